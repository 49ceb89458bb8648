# timer.sh RUN-DIRECTORY SECONDS KEEPER-PID HARNESS-PID UNTIL NODE CLI RUN: ends the run when its time is over, without any daemon.
hf_dir=$1 hf_left=$2 hf_keeper=$3 hf_harness=$4 hf_until=$5 hf_node=$6 hf_cli=$7 hf_run=$8
umask 077
read -r hf_stat </proc/self/stat && printf '%s\n' "$hf_stat" >"$hf_dir/timer"
# $! is set with the fork itself, so a TERM right after it still finds the sleep; one that is over is not signalled again.
hf_done=''
trap '[ "$!" = "$hf_done" ] || kill "$!" 2>/dev/null; exit 0' TERM
# In slices, so that a timer whose keeper was killed does not outlive its agent for long. Whoever records the end ends it too.
while [ "$hf_left" -gt 0 ]; do
  hf_slice=$hf_left
  [ "$hf_slice" -le 20 ] || hf_slice=20
  sleep "$hf_slice" &
  wait "$!"
  hf_done=$!
  hf_left=$((hf_left - hf_slice))
  [ "$hf_until" = tree ] || kill -0 "$hf_keeper" 2>/dev/null || kill -0 "$hf_harness" 2>/dev/null || exit 0
done
exec "$hf_node" "$hf_cli" _end "$hf_run" TIMEOUT
