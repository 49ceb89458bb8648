# pane.sh PLAN GATE SOCKET: the keeper of a run in a pane of tmux, as that pane's own process. It waits here until its launcher has put it on
# record. The gate is a pipe that the launcher holds open: through it comes the environment, which so is in nobody's argv and on no disk, and
# at last the word. End of file means nothing ever runs.
hf_plan=$1 hf_socket=$3
[ -p "$2" ] || exit 0
# Opened both ways first, since to open it for reading alone would wait for ever for a launcher that is gone.
exec 3<>"$2" 4<"$2" 3>&-
# Its launcher sees by this that we hold it.
rm -f "$2"
hf_go='' hf_newline='
'
while IFS= read -r hf_line <&4; do
  if [ "$hf_line" = go ]; then hf_go=1; break; fi
  eval "$hf_line" 2>/dev/null
done
[ -n "$hf_go" ] || exit 0
exec 4<&-
# What the agent starts with tmux shall be its own, and not on our server, where nobody would know it for a part of the run.
hf_pane=$TMUX_PANE hf_front=1
unset TMUX TMUX_PANE

# Nobody at a pane has an `fg`: what has stopped itself goes on, as tmux does it with the process of a pane, but for one that reads or writes
# from a group of its own (TTIN, TTOU): that one stops again at once. A shell is not told which it was, so each goes on, a few times a
# second at most. Not while it is being ended. This is also what a child's signal does, since a stop right before a rest would not end it: then
# what was being looked at is left as it was, and another one that comes meanwhile is seen by a second look.
hf_waking='' hf_child=hf_wake
hf_wake() {
  if [ -n "$hf_waking" ]; then hf_waking=again; return 0; fi
  hf_waking=again
  set -- "$hf_state" "$hf_last" "${hf_group-}" "${hf_line-}"
  while [ "$hf_waking" = again ]; do
    hf_waking=once
    hf_look "$hf_harness"
    [ "$hf_state" = T ] && [ ! -e "$hf_dir/retired" ] || continue
    kill -CONT "$hf_harness"
    hf_try '( trap - 0; trap "" TSTP; hf_helper_exec sleep 0.2 )'
    hf_waking=again
  done
  hf_state=$1 hf_last=$2 hf_group=$3 hf_line=$4 hf_waking=''
}

# The end of the screen is kept: with us the pane is gone. A second one takes the place of the first. A new server counts its panes from the start
# again, so what bears our number may be another agent's: tmux itself looks whose process it has, and shows nothing else.
hf_screen() {
  hf_before=0
  hf_plain log || return 0
  [ "$hf_until" != tree ] || [ ! -e "$hf_dir/log" ] || hf_try 'hf_before=$(wc -c <"$hf_dir/log")'
  hf_shoot >>"$hf_dir/log"
}
# The agent may have put a pipe there, which would keep us waiting, or a link to another file. (One that comes right now: `stop` ends us.)
hf_plain() { [ ! -L "$hf_dir/$1" ] && { [ -f "$hf_dir/$1" ] || [ ! -e "$hf_dir/$1" ]; }; }
hf_shoot() {
  hf_try '( trap - 0; hf_helper_exec timeout 3 tmux -N -u -S "$hf_socket" if-shell -F -t "$hf_pane" "#{==:#{pane_pid},$$}" \
    "capture-pane -p -S -2000 -t $hf_pane" ) </dev/null 2>/dev/null |
    sed -e :a -e "/^\n*\$/{\$d;N;ba" -e "}"'
}

# A run that lives as long as its tree: without us its pane would be gone, and what is left on that with it. A pane that is closed ends it also now;
# one that was closed before we listened is known by the terminal that we have no more.
hf_closed=''
hf_stay() {
  [ -n "$hf_linger" ] || return 0
  trap hf_close HUP
  hf_try 'true </dev/tty' || hf_close
  while hf_lives "$hf_linger"; do wait "$hf_linger"; done
  hf_plain screen && hf_plain both && hf_plain log || return 0
  hf_shoot >"$hf_dir/screen"
  [ ! -s "$hf_dir/screen" ] || hf_try '{ head -c "$hf_before" "$hf_dir/log"; cat "$hf_dir/screen"; } >"$hf_dir/both" && mv -f "$hf_dir/both" "$hf_dir/log"'
  hf_try 'rm -f "$hf_dir/screen"'
}
# The kernel tells only us that a terminal is gone, so all that is left has yet to hear it.
hf_close() {
  [ -z "$hf_closed" ] || return 0
  hf_closed=1
  hf_help "$hf_node" "$hf_cli" _end "$hf_run" HUP command
}

. "$hf_plan"
. "$hf_keep/keeper.sh"
