#!/bin/bash
# escapes.sh HOLDFAST WORK: lets agents, each with its own way to lose its children, be stopped by HOLDFAST as it finds the machine, and
# prints for each way: LEVEL WAY STARTED SURVIVORS NAMED, the last being those survivors that `stop` itself has named as suspects. Everything it starts carries a number of its own in its command line; only such processes
# are counted, and ended should they survive. Meant for a pid namespace of its own.
set -u
holdfast=$1 work=$2
export HOLDFAST_HOME="$work/home"
ways='child setsid daemon daemon-env daemon-env-cd node tmux clobbered forking helper-marker other-marker no-marker no-marker-near undumpable'
PATH=$PATH:/usr/sbin
# tmux asks the user database for a shell where this is not set, and there "nobody" has one that only says no.
export SHELL=/bin/sh

# The number in decimals of a second: `sleep 1000.12345` is our own, and nobody else's.
agent() { # WAY NUMBER
  case $1 in
  child) echo "sleep 1000.$2 & exec sleep 1001.$2" ;;
  setsid) echo "setsid sleep 1000.$2 & exec sleep 1001.$2" ;;
  daemon) echo "(setsid sh -c 'sleep 1000.$2 & sleep 1002.$2 &' &); exec sleep 1001.$2" ;;
  daemon-env) echo "(setsid env -i PATH=\$PATH sh -c 'sleep 1000.$2 & sleep 1002.$2 &' &); exec sleep 1001.$2" ;;
  daemon-env-cd) echo "(setsid env -i PATH=\$PATH sh -c 'cd /; sleep 1000.$2 & sleep 1002.$2 &' &); exec sleep 1001.$2" ;;
  node) echo "\"\$NODE\" -e 'require(\"child_process\").spawn(\"sleep\",[\"1000.$2\"],{detached:true,stdio:\"ignore\",env:{}}).unref();setTimeout(()=>{},1e6)' 1000.$2; exec sleep 1001.$2" ;;
  tmux) echo "TMUX_TMPDIR=$work env -u TMUX tmux -L m.$2 new-session -d 'sleep 1000.$2' && exec sleep 1001.$2" ;;
  clobbered) echo "perl -e '\$0 = \"1000.$2 \" x 400; sleep 1000' & exec sleep 1001.$2" ;;
  # A marker that somebody else has is worn: of the keeper's helpers, of another run, or none.
  helper-marker) echo "until [ -s $work/helper ]; do sleep 0.05; done; (setsid prlimit --rttime=\$(cat $work/helper): sleep 1000.$2 &); prlimit --rttime=\$(cat $work/helper): sleep 1002.$2 & exec sleep 1001.$2" ;;
  other-marker) echo "until [ -s $work/other ]; do sleep 0.05; done; (setsid prlimit --rttime=\$(cat $work/other): sleep 1000.$2 &); prlimit --rttime=\$(cat $work/other): sleep 1002.$2 & exec sleep 1001.$2" ;;
  no-marker) echo "(setsid prlimit --rttime=unlimited: sleep 1000.$2 &); prlimit --rttime=unlimited: sleep 1002.$2 & exec sleep 1001.$2" ;;
  no-marker-near) echo "(prlimit --rttime=unlimited: env -i sleep 1000.$2 &); exec sleep 1001.$2" ;;
  # May not be looked into: its files belong to root.
  undumpable) echo "(setsid perl -e 'syscall(157, 4, 0, 0, 0, 0); sleep 1000' 1000.$2 &); exec sleep 1001.$2" ;;
  # Twenty forks a second while it is being ended, each in a session of its own; none lives for long.
  forking) echo "perl -MPOSIX -e 'for (1 .. 600) { if (!fork) { setsid; fork and exit; sleep 60; exit } select undef, undef, undef, 0.05 }' 1000.$2 & exec sleep 1001.$2" ;;
  esac
}
least() { case $1 in child | setsid | clobbered | node | no-marker-near | undumpable) echo 2 ;; tmux) echo 3 ;; forking) echo 12 ;; *) echo 3 ;; esac; }

# Whose command line holds the number, zombies aside.
found() {
  local entry pids=''
  for entry in $(grep -laE "100[0-2]\.$1" /proc/[0-9]*/cmdline 2>/dev/null); do
    entry=${entry%/cmdline}
    grep -qs '^State:.[ZX]' "$entry/status" || pids="$pids ${entry#/proc/}"
  done
  echo $pids
}
count() { set -- $(found "$1"); echo $#; }

marker_of() { # SESSION FIELD
  local pid
  pid=$("$holdfast" status "$1" --json | sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p")
  sed -n 's/^Max realtime timeout *\([0-9]*\).*/\1/p' "/proc/$pid/limits"
}

number=$((RANDOM % 9000 + 1000))
for way in $ways; do
  number=$((number + 1))
  mkdir -p "$work/$way"
  agent "$way" $number >"$work/$way.sh"
  NODE=${HOLDFAST_NODE:-node} "$holdfast" run --session "$way" --dir "$work/$way" --detach -- sh "$work/$way.sh" >/dev/null || exit 1
  case $way in
  child) marker_of "$way" pid >"$work/other" ;;
  setsid) marker_of "$way" keeper >"$work/helper" ;;
  esac
  for _ in $(seq 200); do [ "$(count $number)" -ge "$(least $way)" ] && break; sleep 0.05; done
  eval "number_$(echo $way | tr - _)=$number started_$(echo $way | tr - _)=$(count $number)"
done
level=$("$holdfast" status child --json | sed -n 's/.*"containment":{"level":"\([a-z]*\)".*"entered":\(true\|false\).*/\1:\2/p')
"$holdfast" stop --all --grace 2s >"$work/stop.txt" || { echo "stop failed ($?)" >&2; cat "$work/stop.txt" >&2; }
code=0
for way in $ways; do
  name=$(echo $way | tr - _)
  eval "number=\$number_$name started=\$started_$name"
  survivors=$(found $number)
  named=0
  for pid in $survivors; do grep -q "may be left: .*(pid $pid)" "$work/stop.txt" && named=$((named + 1)); done
  set -- $survivors
  echo "$level $way $started $# $named"
  for pid in $survivors; do code=1; kill -KILL "$pid"; done
done
left=$("$holdfast" prune --dry-run)
[ "$left" = 'nothing to remove' ] || { echo "left behind: $left" >&2; code=1; }
exit $code
