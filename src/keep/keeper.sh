# The keeper: the parent of a run's harness, which writes down how it ended. Format 1. Sourced, never run by itself:
# by bin/holdfast in the foreground (the command becomes the keeper) and by gate.sh when detached. The plan that was sourced
# before has set hf_run (id), hf_dir (run directory), hf_keep (this folder), hf_node, hf_cli, hf_cd, hf_umask, hf_signals,
# hf_helper (marker of helpers, or empty), hf_timeout (seconds, or empty), exported the environment, and left argv in "$@".

hf_harness='' hf_told='' hf_timer=''

# A helper of the keeper works for the run, but is not of its tree: another marker, no cookie, deaf to the terminal.
hf_helper_exec() {
  trap '' HUP INT QUIT TSTP
  unset HOLDFAST_LINEAGE HOLDFAST_FENCE HOLDFAST_RUN HOLDFAST_EPOCH HOLDFAST_SESSION
  if [ -n "$hf_helper" ]; then exec prlimit "--rttime=$hf_helper:" "$@"; else exec "$@"; fi
}

# TERM and HUP to the command end the whole tree. The agent hears it at once, the rest from the stopper.
hf_end() {
  [ -z "$hf_told" ] || return 0
  hf_told=$1
  [ -n "$hf_harness" ] || return 0
  kill "-$1" "$hf_harness" 2>/dev/null
  ( hf_helper_exec "$hf_node" "$hf_cli" _end "$hf_run" "$1" ) </dev/null >/dev/null 2>&1 &
}

# The terminal sends INT and QUIT to the agent itself; only when we have none must they be passed on.
hf_pass() {
  read -r hf_stat </proc/self/stat
  set -- ${hf_stat##*) }
  [ "$3" = "$6" ] || [ -z "$hf_harness" ] || kill "-$hf_key" "$hf_harness" 2>/dev/null
}

trap 'hf_end TERM' TERM
trap 'hf_end HUP' HUP
trap 'hf_key=INT; hf_pass' INT
trap 'hf_key=QUIT; hf_pass' QUIT

# The tombstone may have come before the agent: then it never runs.
if [ -e "$hf_dir/retired" ]; then exit 143; fi

exec 3<&0
if [ -n "$hf_signals" ]; then
  env "--default-signal=$hf_signals" /bin/sh "$hf_keep/stub.sh" "$hf_dir" "$hf_umask" "$hf_cd" "$@" <&3 3<&- &
else
  /bin/sh "$hf_keep/stub.sh" "$hf_dir" "$hf_umask" "$hf_cd" "$@" <&3 3<&- &
fi
hf_harness=$!
# From here on only stderr is kept: whoever reads our output must see its end when the agent closes it.
exec 3<&- </dev/null >/dev/null
umask 077
if [ -n "$hf_told" ]; then hf_again=$hf_told; hf_told=''; hf_end "$hf_again"; fi
if [ -n "$hf_timeout" ]; then
  ( hf_helper_exec /bin/sh "$hf_keep/timer.sh" "$hf_dir" "$hf_timeout" $$ "$hf_node" "$hf_cli" "$hf_run" ) </dev/null >/dev/null 2>&1 &
  hf_timer=$!
fi

# A trap ends `wait` early. The harness stays our unreaped child until `wait` has given its status, so kill -0 tells which it was.
while :; do
  wait "$hf_harness" 2>/dev/null
  hf_code=$?
  kill -0 "$hf_harness" 2>/dev/null || break
done
trap '' TERM HUP
trap : INT QUIT

printf '1 %s %s\n' "$hf_code" "${hf_told:--}" >"$hf_dir/exit.$$" && mv "$hf_dir/exit.$$" "$hf_dir/exit"
[ -z "$hf_timer" ] || kill "$hf_timer" 2>/dev/null
( hf_helper_exec "$hf_node" "$hf_cli" _finish "$hf_run" )
exit "$hf_code"
