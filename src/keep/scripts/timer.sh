# timer.sh RUN-DIRECTORY SECONDS FOLLOW KEEPER-PID HARNESS-PID UNTIL NODE CLI RUN: sees to a run while it lasts, without any daemon. Ends it when
# its time is over (SECONDS, or empty), and has Node look when there is something new of its agent (FOLLOW, or empty).
hf_dir=$1 hf_follow=$3 hf_keeper=$4 hf_harness=$5 hf_until=$6 hf_node=$7 hf_cli=$8 hf_run=$9
umask 077
# Nothing of that name is there yet, unless the agent has put it there. Opened both ways, since a pipe is then never waited for.
if read -r hf_stat </proc/self/stat && [ ! -e "$hf_dir/timer" ] && [ ! -L "$hf_dir/timer" ]; then printf '%s\n' "$hf_stat" 1<>"$hf_dir/timer"; fi
# $! is set with the fork itself, so a TERM right after it still finds what we wait for; one that is over is not signalled again. With KILL: a child
# that is not yet what it shall be has our trap, and would swallow a TERM.
hf_done=''
trap '[ "$!" = "$hf_done" ] || kill -KILL "$!" 2>/dev/null; exit 0' TERM

# In hundredths of a second. (A leading 1 keeps 08 from being octal.)
hf_clock() {
  read -r hf_now hf_rest </proc/uptime
  hf_now=$((${hf_now%.*} * 100 + 1${hf_now#*.} - 100))
}

hf_await() {
  "$@" &
  wait "$!"
  hf_code=$?
  hf_done=$!
}

# A rest that the kernel ends with us, however we end. We may be gone before it has said so: then it does not begin. Without setpriv (util-linux
# 2.33), or with one that cannot do this, a timer that is killed leaves its rest behind for a slice.
hf_mortal=''
if command -v setpriv >/dev/null 2>&1; then hf_mortal=1; fi
hf_nap() {
  if [ -n "$hf_mortal" ]; then
    hf_await setpriv --pdeathsig KILL /bin/sh -c '[ "$PPID" = "$1" ] && exec sleep "$2"' sleep $$ "$1"
    [ "$hf_code" != 0 ] || return 0
    hf_mortal=''
  fi
  hf_await sleep "$1"
}

# Is something not older than our last look? (What was written in the same tick may have been missed.) Before Node has said what there is to look at, it looks every time.
hf_news() {
  [ -f "$hf_dir/follow" ] && [ -s "$hf_dir/follow" ] || return 0
  # The agent may have made it of any size: so much of it is looked at, for so long. (The deadline waits for us.)
  hf_files=$(timeout -s KILL 2 head -c 65536 -- "$hf_dir/follow" 2>/dev/null) || return 0
  while IFS= read -r hf_file; do
    [ -z "$hf_file" ] || [ ! -e "$hf_file" ] || [ "$hf_dir/followed" -nt "$hf_file" ] || return 0
  done <<END
$hf_files
END
  return 1
}

# Only its time counts. A pipe or a link in its place is never opened; one that comes right now is not waited for, since it is opened both ways.
hf_touch() {
  if [ -e "$hf_dir/followed" ] || [ -L "$hf_dir/followed" ]; then [ -f "$hf_dir/followed" ] && [ ! -L "$hf_dir/followed" ] || return 1; fi
  printf '.' 1<>"$hf_dir/followed"
}

hf_clock
# An agent inside may come long after what its session wrote, and write elsewhere: after news, Node looks again after 10 s, 20 s, 40 s, up to 320 s.
hf_deadline='' hf_pause=2 hf_quiet=0 hf_again=5
[ -z "$2" ] || hf_deadline=$((hf_now + $2 * 100))
# In slices, so that a timer whose keeper was killed does not outlive its agent for long. Whoever records the end ends it too.
while [ -n "$hf_follow$hf_deadline" ]; do
  hf_slice=20
  if [ -n "$hf_follow" ]; then
    hf_slice=$hf_pause
    # An id that is not told at once may not be told before somebody has typed something.
    if [ "$hf_follow" = id ] && [ "$hf_pause" -lt 16 ]; then hf_pause=$((hf_pause * 2)); fi
    hf_quiet=$((hf_quiet + 1))
    if hf_news; then
      hf_quiet=0 hf_again=5
    elif [ "$hf_quiet" -ge "$hf_again" ]; then
      hf_quiet=0
      [ "$hf_again" -ge 160 ] || hf_again=$((hf_again * 2))
    fi
    if [ "$hf_quiet" = 0 ]; then
      # A plain `:` that cannot write would end us, and the deadline with us.
      hf_code=1
      if hf_touch || [ -d "$hf_dir" ]; then hf_await "$hf_node" "$hf_cli" _follow "$hf_run" "$hf_follow"; fi
      # There is nothing to follow any more, or it cannot be.
      [ "$hf_code" = 0 ] || hf_follow=''
    fi
  fi
  if [ -n "$hf_deadline" ]; then
    hf_clock
    [ "$hf_now" -lt "$hf_deadline" ] || exec "$hf_node" "$hf_cli" _end "$hf_run" TIMEOUT
    [ $(((hf_deadline - hf_now + 99) / 100)) -ge "$hf_slice" ] || hf_slice=$(((hf_deadline - hf_now + 99) / 100))
  fi
  [ -n "$hf_follow$hf_deadline" ] || exit 0
  hf_nap "$hf_slice"
  [ "$hf_until" = tree ] || kill -0 "$hf_keeper" 2>/dev/null || kill -0 "$hf_harness" 2>/dev/null || exit 0
done
