# Sourced by bin/holdfast: joins a pane (hf_socket, hf_name), and then says once how things stand with its run (hf_run, in hf_home). No Node is
# there meanwhile. The client works beside this shell, since a shell hears nothing while it waits for one in front: who ends us ends it.
hf_keys='C-b d'
# Where somebody's own tmux takes the same key, it has to be said twice.
[ -z "${TMUX-}" ] || [ "$(tmux display-message -p '#{prefix}' 2>/dev/null)" != C-b ] || hf_keys='C-b C-b d'
unset TMUX TMUX_PANE
hf_client='' hf_told=''
hf_leave() {
  hf_told=$2
  [ -z "$hf_client" ] || kill "-$1" "$hf_client" 2>/dev/null
}
# Who suspends the client (C-b C-z) wants his prompt back.
hf_suspend() {
  hf_line=''
  [ -z "$hf_client" ] || read -r hf_line 2>/dev/null <"/proc/$hf_client/stat"
  case ${hf_line##*) } in T*)
    kill -STOP $$
    kill -CONT "$hf_client" 2>/dev/null
    ;;
  esac
}
trap 'hf_leave HUP 129' HUP
trap 'hf_leave TERM 143' TERM
trap 'hf_leave TERM 130' INT
trap hf_suspend CHLD
hf_modes=$(stty -g 2>/dev/null)
exec 9<&0
tmux -N -S "$hf_socket" set-option -q -t "=$hf_name:" @leaves "$hf_keys" 2>/dev/null
# (-N: if its server has just left with the last pane, no other is started in its place, with somebody's own configuration.)
tmux -N -S "$hf_socket" attach-session -E -t "=$hf_name" <&9 9<&- &
hf_client=$!
exec 9<&-
hf_code=0
while kill -0 "$hf_client" 2>/dev/null; do
  wait "$hf_client"
  hf_code=$?
done
trap - HUP TERM INT CHLD
# The server itself works on this terminal, and one that was killed has left it as it was then: another screen, no echo, the mouse.
if [ "$hf_code" != 0 ] && [ -n "$hf_modes" ]; then
  . "$hf_dist/terminal.sh"
  hf_restore_terminal "$hf_modes" 2>/dev/null
fi
[ -z "$hf_told" ] || exit "$hf_told"
# A trap may have ended the wait with its own number. The shell tells again how its client ended, unless it has told it before (127).
wait "$hf_client"
set -- $?
[ "$1" = 127 ] || hf_code=$1
HOLDFAST_HOME=$hf_home exec "$hf_program" "$hf_dist/cli.cjs" _left "$hf_run" "$hf_code"
