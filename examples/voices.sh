#!/bin/sh
# Makes eight talkers out of recordings that Debian packages: real people, 60 s
# of continuous speech each, as 48 kHz mono WAV files of equal loudness.
#
#   examples/voices.sh [FOLDER]        default: build/voices
#
# Files that are there already are kept.  Speakers and licences: README.md.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=examples/prepare.sh
. "$top/examples/prepare.sh"
fmx_help "$@"
case ${1-} in
-*) fmx_say "there is no option $1; see $0 --help" >&2; exit 2 ;;
esac
folder=${1:-$top/build/voices}
sounds=/usr/share/asterisk/sounds
readings=/usr/share/pocketsphinx/test/data/librivox
seconds=60

command -v ffmpeg >/dev/null ||
  { fmx_say "no ffmpeg here, which cuts the voices; please run" >&2
    echo "    sudo $top/examples/install-deps.sh party" >&2
    exit 1; }
mkdir -p "$folder"
work=                   # in $folder: from there a voice is moved at once
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM

# voice NAME FORMAT FILE...: joins the recordings until they last long enough,
# shortens pauses, brings the voice to -26 LUFS.
voice () {
  name=$1 format=$2
  shift 2
  [ ! -s "$folder/$name.wav" ] || return 0
  [ -n "$work" ] || work=$(mktemp -d "$folder/.making.XXXXXX")
  echo "voice $name"
  for file in "$@"; do
    ffmpeg -v error -nostdin -f "$format" -i "$file" \
      -f s16le -ac 1 -ar 48000 -
  done >"$work/raw"
  if [ ! -s "$work/raw" ]; then
    echo "voice $name: no recordings found; please run" >&2
    echo "    sudo $top/examples/install-deps.sh party" >&2
    exit 1
  fi
  ffmpeg -v error -nostdin -y -stream_loop -1 -f s16le -ac 1 -ar 48000 \
    -i "$work/raw" -af "aformat=channel_layouts=mono,silenceremove=stop_periods=-1:stop_duration=0.4:\
stop_threshold=-45dB,loudnorm=I=-26:TP=-6:LRA=7,aresample=48000,aformat=channel_layouts=mono" \
    -t $seconds -c:a pcm_s16le -bitexact "$work/voice.wav"
  mv "$work/voice.wav" "$folder/$name.wav"
}

# longest PATTERN: the longest recordings first, enough of them for a minute.
longest () {
  find -L "$1" -name "$2" -size +10k -printf '%s %p\n' | sort -rn | head -24 |
    cut -d ' ' -f 2
}

# shellcheck disable=SC2046  # file names without spaces
{
  voice 1-allison g722 $(longest $sounds/en_US_f_Allison '*.g722')
  voice 2-carlo g722 $(longest $sounds/it_IT_m_Carlo '*.g722')
  voice 3-june g722 $(longest $sounds/fr_CA_f_June '*.g722')
  voice 4-maxim g722 $(longest $sounds/ru_RU_f_IvrvoiceRU '*.g722')
  voice 5-austen wav $(longest $readings '*.wav')
  voice 6-paola wav $(longest $sounds/it_IT_f_Menardi '*.wav')
  voice 7-armelle gsm $(longest $sounds/fr '*.gsm')
  voice 8-july gsm $(longest $sounds/es '*.gsm')
}
