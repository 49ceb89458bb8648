# linger.sh RUN-DIRECTORY NODE CLI RUN: a run that lives as long as its tree is finished soon after that is empty, without any daemon.
hf_dir=$1 hf_node=$2 hf_cli=$3 hf_run=$4
hf_cgroup=''
# An agent may have put anything there, of any size: a cgroup's path is short, and its files show no size.
if [ -f "$hf_dir/cgroup" ] && [ ! -L "$hf_dir/cgroup" ]; then hf_cgroup=$(timeout -s KILL 2 head -c 4096 -- "$hf_dir/cgroup" 2>/dev/null); fi
case $hf_cgroup in /*/holdfast-*"$hf_run" | /*/holdfast-*"$hf_run.scope") ;; *) hf_cgroup='' ;; esac

# Its cgroup says whether anybody is left; what was spared in it keeps it from ever being empty, and without one nobody can say: so Node looks
# now and then too, less and less often.
hf_empty() {
  [ -n "$hf_cgroup" ] || return 1
  [ -e "$hf_cgroup/cgroup.events" ] || return 0
  [ -f "$hf_cgroup/cgroup.events" ] && [ ! -s "$hf_cgroup/cgroup.events" ] || return 1
  while read -r hf_key hf_value; do [ "$hf_key $hf_value" != 'populated 0' ] || return 0; done <"$hf_cgroup/cgroup.events"
  return 1
} 2>/dev/null

hf_patience=4 hf_failures=0
while [ -d "$hf_dir" ]; do
  hf_waited=0
  while [ "$hf_waited" -lt "$hf_patience" ] && [ ! -e "$hf_dir/retired" ] && ! hf_empty; do
    sleep 1
    hf_waited=$((hf_waited + 1))
  done
  "$hf_node" "$hf_cli" _finish "$hf_run" && exit 0
  # Nobody is left, or somebody else ends it, and still it cannot be recorded: then the next look does.
  hf_failures=$((hf_failures + 1))
  if [ "$hf_failures" -ge 6 ] && { hf_empty || [ -e "$hf_dir/retired" ]; }; then exit 0; fi
  [ "$hf_patience" -ge 60 ] || hf_patience=$((hf_patience * 2))
  sleep "$hf_failures"
done
