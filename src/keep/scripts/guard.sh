# guard.sh RUN-DIRECTORY NODE CLI RUN UNTIL: waits for the end of a run's keeper, and then has the run finished, without any daemon.
# Stdin is a pipe that only the keeper holds open, so waiting costs nothing. A keeper that saw the end itself ends the guard before it leaves.
hf_dir=$1 hf_node=$2 hf_cli=$3 hf_run=$4 hf_until=$5
set -f
umask 077
# Nothing of that name is there yet, unless the agent has put it there. Opened both ways, since a pipe is then never waited for.
if read -r hf_stat </proc/self/stat && [ ! -e "$hf_dir/guard" ] && [ ! -L "$hf_dir/guard" ]; then printf '%s\n' "$hf_stat" 1<>"$hf_dir/guard"; fi
# Whoever ends a run whose keeper is gone ends its guard, too. (KILL, since a child that is not yet `sleep` has our trap.)
hf_napping='' hf_leave=''
trap 'hf_leave=1; [ -z "$hf_napping" ] || kill -KILL "$!" 2>/dev/null' TERM
hf_nap() {
  hf_napping=1
  sleep "$1" &
  [ -n "$hf_leave" ] || wait "$!"
  hf_napping=''
  [ -z "$hf_leave" ] || exit 0
}

# The keeper writes nothing: a read ends when nobody holds the pipe open any more, or with TERM.
read -r hf_line
exec </dev/null
[ -z "$hf_leave" ] || exit 0

# Does the agent live, as its stub has written down who it is? Only this decides when Node looks; Node itself believes nothing of it.
hf_fields() {
  hf_last=''
  while IFS= read -r hf_line; do hf_last=$hf_line; done <"$1"
  set -- ${hf_last##*) }
  hf_state=${1-} hf_born=${20-}
} 2>/dev/null
hf_agent_lives() {
  [ -f "$hf_dir/pid" ] && [ ! -L "$hf_dir/pid" ] || return 1
  hf_stat=$(timeout -s KILL 2 head -c 4096 -- "$hf_dir/pid" 2>/dev/null)
  hf_pid=${hf_stat%% *}
  hf_stat=${hf_stat##*) }
  case $hf_pid in '' | *[!0-9]*) return 1 ;; esac
  set -- $hf_stat
  hf_birth=${20-}
  hf_fields "/proc/$hf_pid/stat"
  case $hf_state in '' | Z | X) return 1 ;; esac
  [ "$hf_born" = "$hf_birth" ]
}

# Its cgroup says whether anybody is left; what was spared in it keeps it from ever being empty, and without one nobody can say: so Node looks
# now and then too, less and less often. An agent may have put anything there, of any size: a cgroup's path is short, and its files show no size.
hf_find_cgroup() {
  hf_cgroup=''
  if [ -f "$hf_dir/cgroup" ] && [ ! -L "$hf_dir/cgroup" ]; then hf_cgroup=$(timeout -s KILL 2 head -c 4096 -- "$hf_dir/cgroup" 2>/dev/null); fi
  case $hf_cgroup in /*/holdfast-*"$hf_run" | /*/holdfast-*"$hf_run.scope") ;; *) hf_cgroup='' ;; esac
}
hf_empty() {
  [ -n "$hf_cgroup" ] || return 1
  [ -e "$hf_cgroup/cgroup.events" ] || return 0
  [ -f "$hf_cgroup/cgroup.events" ] && [ ! -s "$hf_cgroup/cgroup.events" ] || return 1
  while read -r hf_key hf_value; do [ "$hf_key $hf_value" != 'populated 0' ] || return 0; done <"$hf_cgroup/cgroup.events"
  return 1
} 2>/dev/null

# A run that lives as long as its tree is finished when that is empty.
hf_linger() {
  hf_waited=0
  while [ "$hf_waited" -lt "$hf_patience" ] && [ ! -e "$hf_dir/retired" ] && ! hf_empty; do
    hf_nap 1
    hf_waited=$((hf_waited + 1))
  done
  [ "$hf_patience" -ge 60 ] || hf_patience=$((hf_patience * 2))
}

hf_patience=4 hf_failures=0
while [ -d "$hf_dir" ]; do
  while hf_agent_lives; do hf_nap 2; done
  "$hf_node" "$hf_cli" _finish "$hf_run" && exit 0
  [ -z "$hf_leave" ] || exit 0
  hf_agent_lives || hf_failures=$((hf_failures + 1))
  hf_find_cgroup
  # Nobody is left, and still it cannot be recorded: then the next look does.
  if [ "$hf_failures" -ge 2 ] && hf_empty; then exit 0; fi
  # So it is where nobody can say who is left, or somebody else ends them. A tree that outlives its agent may take its time.
  if [ "$hf_failures" -ge 6 ] && { [ "$hf_until" != tree ] || hf_empty || [ -e "$hf_dir/retired" ]; }; then exit 0; fi
  hf_nap "$hf_failures"
  [ "$hf_until" != tree ] || hf_linger
done
