#!/bin/sh
# The last words of `meson install` where GStreamer does not look for plugins.
#
#   say-where.sh FOLDER-OF-THE-PLUGINS
[ -z "${MESON_INSTALL_QUIET-}" ] || exit 0

say () {
  printf '\nGStreamer does not look for plugins in %s.\n' "$1"
  printf 'To use them:\n    export GST_PLUGIN_PATH=%s\n' "$1"
}

# meson 1.0 throws away what a script prints, so this goes where meson prints
{ say "$1" >>"/proc/$PPID/fd/1"; } 2>/dev/null || say "$1"
