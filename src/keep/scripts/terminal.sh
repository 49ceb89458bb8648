# Sourced by the keeper and by join.sh. An agent that is killed cannot put its terminal back as it was, so this does: its modes ($1, as `stty -g` told
# them), its first screen, the cursor, and no reports of mouse, focus, pasting or keys. The cursor is saved first, since leaving a second screen where
# none was entered restores it. It is for descriptor 0 and 1.
hf_restore_terminal() {
  stty "$1"
  case ${TERM-} in '' | dumb) return 0 ;; esac
  printf '\0337\033[?1049l\033[?9l\033[?1000l\033[?1001l\033[?1002l\033[?1003l\033[?1004l\033[?1005l\033[?1006l\033[?1015l\033[?1016l'
  printf '\033[?2004l\033[?2026l\033[?1l\033>\033[?7h\033[?25h\033[0m\017'
  # Only terminals with these protocols read over the end of them.
  [ "$TERM" = linux ] || printf '\033[>4m\033[<u\033[0 q'
  printf '\r'
}
