# The keeper: the parent of a run's harness, which writes down how it ended. Format 1. Sourced, never run by itself:
# by bin/holdfast in the foreground (the command becomes the keeper) and by gate.sh when detached. The plan that was sourced
# before has set hf_run (id), hf_dir (run directory), hf_keep (this folder), hf_node, hf_cli, hf_cd, hf_umask, hf_signals,
# hf_marker and hf_helper (markers of the run and of its helpers, or empty), hf_timeout (seconds, or empty), hf_until, exported the
# environment, and left argv in "$@".

hf_harness='' hf_told='' hf_timer='' hf_hit=''

# On record it is known by its identity, so the keeper gives the run's marker away: from here on it, and all that it starts for itself,
# has the marker of helpers, and only the agent has the run's.
if [ -n "$hf_helper" ]; then prlimit --pid $$ "--rttime=$hf_helper:" 2>/dev/null; fi

# A helper of the keeper works for the run, but is not of its tree: no cookie, deaf to the terminal.
hf_helper_exec() {
  trap '' HUP INT QUIT TSTP
  trap - 0
  unset HOLDFAST_LINEAGE HOLDFAST_FENCE HOLDFAST_RUN HOLDFAST_EPOCH HOLDFAST_SESSION
  exec "$@"
}

# TERM and HUP to the command end the whole tree. The agent hears it at once, the rest from the stopper.
hf_end() {
  hf_hit=1
  [ -z "$hf_told" ] || return 0
  hf_told=$1
  [ -n "$hf_harness" ] || return 0
  kill "-$1" "$hf_harness" 2>/dev/null
  ( hf_helper_exec "$hf_node" "$hf_cli" _end "$hf_run" "$1" ) </dev/null >/dev/null 2>&1 &
}

# The terminal sends INT and QUIT to the agent itself; only when we have none must they be passed on.
hf_pass() {
  hf_hit=1
  read -r hf_stat </proc/self/stat
  set -- "$1" ${hf_stat##*) }
  [ "$4" = "$7" ] || [ -z "$hf_harness" ] || kill "-$1" "$hf_harness" 2>/dev/null
}

hf_forward() {
  hf_hit=1
  [ -z "$hf_harness" ] || kill "-$1" "$hf_harness" 2>/dev/null
}

trap 'hf_end TERM' TERM
trap 'hf_end HUP' HUP
trap 'hf_pass INT' INT
trap 'hf_pass QUIT' QUIT
trap 'hf_forward USR1' USR1
trap 'hf_forward USR2' USR2

# The tombstone may have come before the agent: then it never runs.
if [ -e "$hf_dir/retired" ]; then exit 143; fi

exec 9<&0
set -- /bin/sh "$hf_keep/stub.sh" "$hf_dir" "$hf_umask" "$hf_cd" "$@"
[ -z "$hf_signals" ] || set -- env "--default-signal=$hf_signals" "$@"
[ -z "$hf_marker" ] || set -- prlimit "--rttime=$hf_marker:" "$@"
"$@" <&9 9<&- &
hf_harness=$!
# From here on only stderr is kept: whoever reads our output must see its end when the agent closes it.
exec 9<&- </dev/null >/dev/null
umask 077
if [ -n "$hf_told" ]; then hf_again=$hf_told; hf_told=''; hf_end "$hf_again"; fi
if [ -n "$hf_timeout" ]; then
  ( hf_helper_exec /bin/sh "$hf_keep/timer.sh" "$hf_dir" "$hf_timeout" $$ "$hf_harness" "$hf_until" "$hf_node" "$hf_cli" "$hf_run" ) </dev/null >/dev/null 2>&1 &
  hf_timer=$!
fi

# A trap ends `wait` early, with its own number and sometimes with the child already reaped. While the harness is our unreaped child
# kill -0 finds it, and we wait on; once it was reaped, a second `wait` gives what the first one kept from us.
while :; do
  hf_hit=''
  wait "$hf_harness" 2>/dev/null
  hf_code=$?
  [ -n "$hf_hit" ] || break
  kill -0 "$hf_harness" 2>/dev/null && continue
  wait "$hf_harness" 2>/dev/null
  hf_again=$?
  [ "$hf_again" = 127 ] || hf_code=$hf_again
  break
done
trap '' TERM HUP USR1 USR2
trap : INT QUIT
# Whatever fails from here on (not even a fork may succeed), the code is the agent's.
trap 'exit "$hf_code"' 0

# In place, over what was put there before the start: neither a free block nor a process is needed to say how it ended.
printf '1 %3d %-4s\n' "$hf_code" "${hf_told:--}" 1<>"$hf_dir/exit"
[ -z "$hf_timer" ] || [ "$hf_until" = tree ] || kill "$hf_timer" 2>/dev/null
( hf_helper_exec "$hf_node" "$hf_cli" _finish "$hf_run" )
exit "$hf_code"
