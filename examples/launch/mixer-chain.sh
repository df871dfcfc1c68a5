#!/bin/bash
# Three partial mixers in a chain, A - B - C, as in figure 1 of the DPM paper:
# a client at each, and every client hears both others.
#
#   examples/launch/mixer-chain.sh [HOST:PORT of A's, of B's, of C's client]
#
# Clients (127.0.0.1:10000, 127.0.0.1:10010 and 127.0.0.1:10020) may come and
# go; each is a sender.sh and a receiver.sh with the same port blocks:
#
#   examples/launch/sender.sh voice.wav 127.0.0.1:5000 10000     client of A
#   examples/launch/receiver.sh 10020 127.0.0.1:7000             client of C
#
# Mixer A has the ports from 5000, B from 6000, C from 7000.  Control-C ends
# all three.
here=$(cd "$(dirname "$0")" && pwd)

# shellcheck source=examples/launch/env.sh
. "$here/env.sh"

check_arguments 3 "$@"
a=${1:-127.0.0.1:10000} b=${2:-127.0.0.1:10010} c=${3:-127.0.0.1:10020}
for peer in "$a" "$b" "$c"; do
  check_peer "$peer"
done
check_elements partialmix rtpccfb tfrcrate

# Each in a group of its own, all of which is ended, whatever it is about: a shell without
# that lets what it starts behind it ignore SIGINT.  Who has begun is a job at once, and
# may be ended before the others begin; a shell that waits for a program which does not
# end by SIGINT goes on after that, and is told again.
set -m
trap exit INT TERM
# shellcheck disable=SC2046  # one number per job
trap 'trap - INT TERM; exec 2>/dev/null
  while kill -INT -- $(jobs -pr | sed s/^/-/); do sleep 1; done' EXIT

# neighbour 0 is the client, 1 the mixer before, the last the mixer behind
"$here/mixer.sh" 5000 "$a" 127.0.0.1:6010 &
"$here/mixer.sh" 6000 "$b" 127.0.0.1:5010 127.0.0.1:7010 &
"$here/mixer.sh" 7000 "$c" 127.0.0.1:6020 &
wait -n                 # none is left alone
