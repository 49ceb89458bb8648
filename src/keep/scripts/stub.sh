# stub.sh RUN-DIRECTORY UMASK DIRECTORY CGROUP COMMAND [ARGUMENT…]: writes down who and where it is, then becomes the harness.
hf_dir=$1 hf_umask=$2 hf_cd=$3 hf_cgroup=$4
shift 4
umask 077
# Nothing of these names is there yet: whatever is was put there by another agent. Opened both ways, since a pipe is then never waited for.
hf_put() { [ -e "$hf_dir/$2" ] || [ -L "$hf_dir/$2" ] || printf '%s\n' "$1" 1<>"$hf_dir/$2"; }
# Only a stub that could not become the harness lives to see its own end.
hf_failed() {
  hf_code=$?
  trap - 0
  umask 077
  # Anything else is no failure to start: somebody ended us first.
  case $hf_code in 12[567]) hf_put "$hf_code" nostart ;; esac
  exit "$hf_code"
}
trap hf_failed 0
# Says why it could not start, and ends. No name from elsewhere may steer the terminal, so only names of plain letters are told.
hf_cannot() {
  LC_ALL=C
  case $3 in *[![:print:]]*) set -- "$1" "$2" 'the command' ;; esac
  case $2 in *[![:print:]]*) set -- "$1" 'its directory cannot be entered' "$3" ;; esac
  printf 'holdfast: could not start %s: %s\n' "$3" "$2" >&2
  exit "$1"
}
cd -- "$hf_cd" 2>/dev/null || hf_cannot 125 "its directory $hf_cd cannot be entered" "$1"
unset OLDPWD
case $1 in
*/*) if [ -e "$1" ] && { [ -d "$1" ] || [ ! -x "$1" ]; }; then hf_cannot 126 'not executable (EACCES)' "$1"; fi ;;
esac
command -v -- "$1" >/dev/null 2>&1 || hf_cannot 127 'not found (ENOENT)' "$1"
# What is written down is where it is, not where it should be: without that word nobody relies on a cgroup.
case $hf_cgroup in
'') ;;
:*)
  # `:UNIT:MOUNT`: systemd has put us into that unit, if all went well.
  hf_unit=${hf_cgroup#:}
  while IFS= read -r hf_line; do
    case $hf_line in 0::*/"${hf_unit%%:*}") hf_put "${hf_unit#*:}${hf_line#0::}" cgroup ;; esac
  done </proc/self/cgroup
  ;;
*) if { echo 0 >"$hf_cgroup/cgroup.procs"; } 2>/dev/null; then hf_put "$hf_cgroup" cgroup; fi ;;
esac
# In place, over the blank that was put there before the start: a full disk has room for it, and a blank says that no agent began.
if read -r hf_stat </proc/self/stat; then
  if [ -f "$hf_dir/pid" ] && [ ! -L "$hf_dir/pid" ]; then printf '%s\n' "$hf_stat" 1<>"$hf_dir/pid"; else hf_put "$hf_stat" pid; fi
fi
umask "$hf_umask"
# bash forgets its traps when it fails here, but can be told to go on.
[ -z "${BASH_VERSION-}" ] || shopt -s execfail
exec "$@"
hf_failed
