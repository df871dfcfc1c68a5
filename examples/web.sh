#!/bin/sh
# A room that browsers join by a link: opens one, and prints the link.
#
#   examples/web.sh [--demo] [--open] [--local] [SERVER-OPTION...]
#
# Installs what is missing (or says what), builds, makes a certificate.  --demo
# adds eight recorded voices, and a link to each browser that narrows and widens,
# so that one person alone sees the picture move.  --open opens a browser.
# --local serves this machine alone, without TLS, and without a secret unless FMX_SECRET
# is one.
# Whatever else is given goes to examples/web/server.py (--help lists it).
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=examples/prepare.sh
. "$top/examples/prepare.sh"
fmx_help "$@"

build=${FMX_BUILD:-$top/build}
port=${PORT:-8443}
demo='' open='' local=''
for argument in "$@"; do          # what is not ours stays, in its order
  shift
  case $argument in
  --demo) demo=yes ;;
  --open) open=yes ;;
  --local | --http) local=yes ;;
  *) set -- "$@" "$argument" ;;
  esac
done
fmx_options "$top/examples/web/server.py" "$@"

# of that, what the link has in it
before=
for argument in "$@"; do
  case $before,$argument in
  --port,*) port=$argument ;;
  --secret,*) FMX_SECRET=$argument ;;
  *,--port=*) port=${argument#*=} ;;
  *,--secret=*) FMX_SECRET=${argument#*=} ;;
  esac
  before=$argument
done

fmx_install build run web ${demo:+party} || exit 1
python=$(fmx_python) || exit 1
fmx_say "building"
fmx_configure "$build" "$top" && ninja -C "$build" plugins || exit 1
if [ -n "$demo" ]; then
  "$top/examples/voices.sh" "$build/voices"
  set -- --demo --voices "$build/voices" "$@"
fi

# a secret as a link has it
encoded () {
  "$python" -c 'import sys, urllib.parse as u; print(u.quote(sys.argv[1], ""))' "$1"
}

if [ -n "$local" ]; then
  link=http://localhost:$port/${FMX_SECRET:+#$(encoded "$FMX_SECRET")}
  set -- --http "$@"
else
  cert=$build/web-cert.pem key=$build/web-key.pem own=
  case " $* " in *' --cert'*) own=yes ;; esac
  # its first IPv4 address; its name, if it has none
  address=$(hostname -I | tr ' ' '\n' | grep -m 1 -F . || hostname)
  case $address in *[!0-9.]*) names=DNS:$address ;; *) names=IP:$address,DNS:$(hostname) ;; esac
  [ -n "$own" ] || [ -s "$cert" ] || (umask 077 && openssl req -x509 -newkey ec -pkeyopt \
    ec_paramgen_curve:prime256v1 -nodes -days 365 -subj "/CN=$(hostname)" \
    -addext "subjectAltName=$names" -keyout "$key" -out "$cert" 2>/dev/null)
  FMX_SECRET=${FMX_SECRET:-$(openssl rand -hex 8)}
  export FMX_SECRET
  link=https://$address:$port/#$(encoded "$FMX_SECRET")
  if [ -z "$own" ]; then
    set -- --cert "$cert" --key "$key" "$@"
    fmx_say "The certificate is self-made: browsers warn of it once."
  fi
fi
fmx_say "Send this link: $link"
if [ -n "$open" ]; then
  (sleep 3 && xdg-open "$link" >/dev/null 2>&1) &
fi
# whoever ends us ends the server
fmx_plugins "$build"
exec "$python" "$top/examples/web/server.py" --port "$port" "$@"
