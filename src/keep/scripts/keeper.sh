# The keeper: the parent of a run's harness, which writes down how it ended. Format 1. Sourced, never run by itself:
# by bin/holdfast in the foreground (the command becomes the keeper, hf_front is set), by gate.sh when detached, by pane.sh in tmux (hf_front
# and hf_pane are set). The plan that was sourced before has set hf_run (id), hf_dir (run directory), hf_keep (this folder), hf_node, hf_cli,
# hf_cd, hf_umask, hf_signals, hf_marker and hf_helper (markers of the run and of its helpers, or empty), hf_cgroup (where the stub goes, or empty), hf_systemd (the
# command that has systemd put it there, or empty), hf_timeout (seconds, or empty), hf_follow (empty, or what of the agent is to be followed),
# hf_stdin (the file that it reads, or empty for ours), hf_until, exported the environment, and left argv in "$@".

hf_harness='' hf_told='' hf_timer='' hf_ear='' hf_dead='' hf_deaths='' hf_listening='' hf_code='' hf_guard='' hf_linger='' hf_state='' hf_last=''

# On record it is known by its identity, so the keeper gives the run's marker away: from here on it, and all that it starts for itself,
# has the marker of helpers, and only the agent has the run's.
if [ -n "$hf_helper" ]; then prlimit --pid $$ "--rttime=$hf_helper:" 2>/dev/null; fi

# A shell that cannot fork gives up, and a keeper may not while its agent lives: what fails in here is only not done.
hf_try() { command eval "$1"; }

# A helper of the keeper works for the run, but is not of its tree: no cookie, no hold on our pipe.
hf_helper_exec() {
  unset HOLDFAST_LINEAGE HOLDFAST_FENCE HOLDFAST_RUN HOLDFAST_EPOCH HOLDFAST_SESSION
  exec "$@" 7>&- 8>&-
}

# Node hears every signal again, whatever its parent ignored: only a session of its own keeps a helper from what a closing terminal tells us all.
hf_apart=''
if command -v setsid >/dev/null 2>&1; then hf_apart=setsid; fi

# One that works beside us, deaf to the terminal.
hf_help() { command eval '( trap "" HUP INT QUIT TSTP; trap - TERM USR1 USR2; hf_helper_exec $hf_apart "$@" ) </dev/null >/dev/null 2>&1 &'; }

# The guard waits for the end of a pipe that only we hold open. A signal to our group misses it, since it has a session of its own.
hf_post_guard() {
  [ -p /proc/self/fd/8 ] || return 0
  hf_try '( trap "" HUP INT QUIT TSTP; trap - TERM USR1 USR2
    hf_helper_exec $hf_apart /bin/sh "$hf_keep/guard.sh" "$hf_dir" "$hf_node" "$hf_cli" "$hf_run" "$hf_until" ) </proc/self/fd/8 >/dev/null 2>&1 & hf_guard=$!'
}
# The guard goes before we do: our caller finds nothing of ours.
hf_dismiss_guard() {
  while hf_lives "$hf_guard"; do
    kill -KILL "$hf_guard"
    wait "$hf_guard"
  done
}

# What the kernel says of a child of ours: hf_state is its state, ? if that cannot be read, or empty if it is none (any more); hf_group its
# group. Names may hold line breaks. A process whose first thread has left shows Z while others work: it lives, as L.
hf_look() {
  hf_state='' hf_last=''
  [ -n "$1" ] || return 0
  while IFS= read -r hf_line; do hf_last=$hf_line; done <"/proc/$1/stat"
  if [ -z "$hf_last" ] && kill -0 "$1"; then hf_state='?'; fi
  set -- ${hf_last##*) }
  hf_group=${3-}
  [ "${2-}" = $$ ] || return 0
  hf_state=$1
  if [ "$1" = Z ] && [ "${18}" -gt 1 ]; then hf_state=L; fi
}

hf_lives() {
  hf_look "$1"
  case $hf_state in '' | Z | X) return 1 ;; esac
}

# The ear is a process of our group that does nothing but die of what the group is told. So we know whether a signal came to us alone
# or to all, agent included. It hangs on a pipe that only we hold open, and ends with us. (A detached run has a group of its own.)
hf_listen() {
  hf_ear='' hf_vouched=''
  [ -n "${hf_front-}" ] && [ -p "/proc/self/fd/8" ] || return 0
  hf_before=$! hf_listening=1
  hf_try '( trap "" TSTP; hf_helper_exec env --default-signal=INT,QUIT cat ) <"/proc/self/fd/8" >/dev/null 2>&1 & hf_ear=$!'
  hf_listening=''
}

# A signal to the group kills the ear before it reaches us. Whoever tells first us and then the group (timeout) gets a few hundredths of
# a second; they are spun away, since a sleep would need a fork, and that may fail. A dead ear vouches only for what it died of ($2 is the
# status that a shell gives then), and once; bash cannot be asked that here, so there it vouches for the first that asks.
hf_heard() {
  # The ear may hear before we have so much as taken its name.
  if [ -n "$hf_listening" ] && [ "$!" != "$hf_before" ]; then hf_ear=$!; fi
  if hf_claim "$2"; then return 0; fi
  [ -n "$hf_ear" ] || return 1
  # Another trap may come in between and put up the next ear: this one is asked, and no other.
  set -- "$1" "$2" 0 0 '' "$hf_ear"
  while hf_lives "$6"; do
    # Another signal makes it fail: that is no reason to give up.
    read -r hf_now hf_line </proc/uptime || hf_now=$5
    if [ "$hf_now" = "$5" ]; then set -- "$1" "$2" "$3" $(($4 + 1)) "$5" "$6"; else set -- "$1" "$2" $(($3 + 1)) "$4" "$hf_now" "$6"; fi
    if [ "$3" -ge 5 ] || [ "$4" -ge 3000 ]; then
      if hf_claim "$2"; then return 0; fi
      # On a busy machine it may not even have had the time to die.
      hf_awaits "$6" "$2" || return 1
      hf_dead=$6
      return 0
    fi
  done
  if [ -z "${BASH_VERSION-}" ]; then
    # Twice the same is the ear's own status, and not the number of a trap. One that was taken for dead although it lives would be waited for without
    # end: it dies of something that nobody was told.
    set -- "$2" x y "$6"
    while [ "$4" != "$hf_dead" ] && [ "$2" != "$3" ]; do
      hf_look "$4"
      case $hf_state in '' | '?' | Z | X) ;; *) kill -KILL "$4" ;; esac
      wait "$4"
      set -- "$1" "$3" $? "$4"
    done
    if [ "$4" != "$hf_dead" ]; then hf_dead=$4 hf_deaths="$hf_deaths $3"; fi
    hf_claim "$1"
    return
  fi
  [ "${hf_vouched:-$1}" = "$1" ] || return 1
  hf_vouched=$1
}

# Was this process ($1) told something ($2, as a status) that it has not heard yet?
hf_awaits() {
  while read -r hf_line hf_now; do
    case $hf_line in ShdPnd:) [ $((0x${hf_now#????????} >> ($2 - 129) & 1)) = 0 ] || return 0 ;; esac
  done <"/proc/$1/status"
  return 1
}

# Did an ear die of this, and has nobody answered for it? The trap that finds it dead may be another one's.
hf_claim() {
  case "$hf_deaths " in *" $1 "*) hf_deaths=${hf_deaths%%" $1"*}${hf_deaths#*" $1"} ;; *) return 1 ;; esac
}

# What killed our ear may have come right before a rest, which it then does not end: so the next one is put up here. (bash rests only for
# moments. Before the agent has its name, nobody else may be the last that was started.)
hf_pass() {
  hf_pass_on "$1" "$2"
  [ -n "${BASH_VERSION-}" ] || [ -z "$hf_harness" ] || hf_lives "$hf_ear" || hf_listen
}

# A trap leaves what it finds as it was: another one may have been in the middle of a look. (In dash it cannot do that for $?: a trap within a trap gives
# what the outer one began with to the command that it interrupts, so a condition in a trap may at times come out wrong.)
hf_trap() {
  set -- "$hf_state" "$hf_last" "${hf_group-}" "${hf_line-}" "${hf_now-}" "${hf_scope-}" "${hf_ours-}" "$@"
  "$8" "$9" "${10}"
  hf_state=$1 hf_last=$2 hf_group=$3 hf_line=$4 hf_now=$5 hf_scope=$6 hf_ours=$7
}

# What came to us alone is for the agent, and so is what came to our group when the agent is in another.
hf_pass_on() {
  hf_scope=command
  if hf_heard "$1" "$2"; then
    hf_look $$
    hf_ours=$hf_group
    hf_look "$hf_harness"
    hf_scope=group
    [ "$hf_group" != "$hf_ours" ] || return 0
    hf_scope=both
  fi
  if hf_lives "$hf_harness"; then kill "-$1" "$hf_harness"; fi
}

# TERM and HUP to the command end the whole tree. The agent hears it at once, the rest from the stopper, which is born now and learns who has heard it.
hf_end() {
  if [ -n "$hf_told" ]; then hf_pass "$1" "$2"; return 0; fi
  hf_told=$1
  [ -n "$hf_harness" ] || return 0
  hf_pass "$1" "$2"
  hf_help "$hf_node" "$hf_cli" _end "$hf_run" "$1" "$hf_scope"
}

# An agent that stopped itself shall give the prompt back, so we stop too, until it goes on or the shell wakes us. An agent that is being ended did not
# stop itself: it is frozen before it is killed.
hf_is_ending() { [ -n "$hf_told" ] || [ -e "$hf_dir/retired" ]; }
hf_pause() {
  if hf_is_ending; then hf_rest; return 0; fi
  hf_help /bin/sh "$hf_keep/wake.sh" $$ "$hf_harness" || { hf_rest; return 0; }
  kill -STOP $$
  hf_look "$hf_harness"
  [ "$hf_state" != T ] || hf_is_ending || kill -CONT "$hf_harness"
}

# Returns when the harness may be over, or something else has happened. bash loses a child that ends in the very moment in which a trap
# interrupts `wait`, so there we only rest, and look: often at first, later twice a second.
if [ -n "${BASH_VERSION-}" ]; then
  hf_rests=0
  hf_rest() {
    hf_rests=$((hf_rests + 1))
    if [ "$hf_rests" -lt 40 ]; then set -- 0.05; else set -- 0.5; fi
    read -r -t "$1" hf_line <&8 || [ $? != 1 ] || sleep "$1"
  }
else
  hf_rest() {
    wait "$hf_harness"
    hf_code=$?
  }
fi

# Somebody asked for this end and is about to record it: then Node has nothing to finish here. A person at a terminal is told by it, though.
hf_settled() {
  [ -e "$hf_dir/retired" ] || return 1
  set -- 0
  while [ ! -e "$hf_dir/done" ]; do
    [ "$1" -lt 50 ] && hf_try 'sleep 0.02' || return 1
    set -- $(($1 + 1))
  done
  hf_try 'rm -f "$hf_dir/done" "$hf_dir/plan" "$hf_dir/timer" "$hf_dir/guard" "$hf_dir/ear"'
}

# A command in the background leaves the terminal to the one that has it now.
hf_in_front() {
  hf_look $$
  set -- ${hf_last##*) }
  [ "${3-}" = "${6-}" ]
}

# Waits for the harness, writes down how it ended and has Node finish the run.
hf_watch() {
  while :; do
    hf_look "$hf_harness"
    case $hf_state in
    '' | Z | X) break ;;
    T) if [ -n "${hf_pane-}" ]; then hf_wake; [ ! -e "$hf_dir/retired" ] || hf_rest; elif [ -n "${hf_front-}" ]; then hf_pause; else hf_rest; fi ;;
    *)
      # Then what the last rest gave was a trap's number.
      hf_code=''
      hf_lives "$hf_ear" || hf_listen
      # Right before the rest, since a stop that came earlier does not end it.
      hf_look "$hf_harness"
      [ "$hf_state" = T ] || hf_rest
      ;;
    esac
  done
  trap '' TERM HUP USR1 USR2
  trap : INT QUIT; trap - CHLD
  # A trap may have ended the rest with its own number. The shell tells again how its child ended, unless it was told and another took its
  # place in the shell's books.
  wait "$hf_harness"
  set -- $?
  [ "$1" = 127 ] && [ -n "$hf_code" ] || hf_code=$1
  # In place, over what was put there before the start: neither a free block nor a process is needed to say how it ended.
  # (An agent may have put something else there: nothing is written through a link, and a pipe is never waited for, since it is opened both ways.)
  if [ -f "$hf_dir/exit" ] && [ ! -L "$hf_dir/exit" ]; then printf '1 %3d %-4s\n' "$hf_code" "${hf_told:--}" 1<>"$hf_dir/exit"; fi
  if hf_lives "$hf_ear"; then kill -KILL "$hf_ear"; fi
  [ -z "${hf_pane-}" ] || hf_screen
  # (With a tombstone it may be the very one who ends the rest by now.)
  if [ -n "$hf_timer" ] && [ "$hf_until" != tree ] && [ ! -e "$hf_dir/retired" ] && hf_lives "$hf_timer"; then kill "$hf_timer"; fi
  # A bash that cannot fork gives up in spite of that; even then the code is the agent's.
  trap 'exit "$hf_code"' 0
  if [ -n "$hf_modes" ] && [ "$hf_code" -ge 128 ] && hf_in_front; then
    hf_try '( trap - 0; trap "" TTOU; . "$hf_keep/terminal.sh"; hf_restore_terminal "$hf_modes" ) </dev/tty >/dev/tty'
  fi
  if { [ -z "${hf_front-}" ] || [ -n "${hf_pane-}" ]; } && hf_settled ||
    hf_try '( trap - 0; trap "" HUP INT QUIT TSTP; hf_helper_exec $hf_apart "$hf_node" "$hf_cli" _finish "$hf_run" "$hf_code" 2>&7 )'; then
    hf_dismiss_guard
    exit "$hf_code"
  fi
  # The guard sees to the rest. A killed guard gets a successor.
  hf_lives "$hf_guard" || hf_post_guard
  exec 8>&-
  [ "$hf_until" != tree ] || hf_linger=$hf_guard
  [ -z "${hf_pane-}" ] || hf_stay
  exit "$hf_code"
}

trap 'hf_trap hf_end TERM 143' TERM
trap 'hf_trap hf_end HUP 129' HUP
trap 'hf_trap hf_pass INT 130' INT
trap 'hf_trap hf_pass QUIT 131' QUIT
trap 'hf_trap hf_pass USR1 138' USR1
trap 'hf_trap hf_pass USR2 140' USR2

# The tombstone may have come before the agent: then it never runs.
if [ -e "$hf_dir/retired" ]; then exit 143; fi

# A pipe that ends with us. A here-document of dash is one that no name leads to; where it is none, one is made. (Descriptors 8 and 9 are ours, 3 to 7 may
# be the agent's.)
exec 8<<'hf_end'
hf_end
if [ -p /proc/self/fd/8 ]; then exec 8<>/proc/self/fd/8; elif hf_try 'mkfifo -m 600 "$hf_dir/ear" 2>/dev/null'; then exec 8<>"$hf_dir/ear"; else exec 8<&-; fi
hf_post_guard
# The ear comes before the agent, and hears each signal to the group from here on.
hf_listen
# An agent that is killed cannot put the terminal back as it was.
hf_modes=''
if [ -n "${hf_front-}" ] && [ -z "${hf_pane-}" ] && [ -t 0 ]; then hf_modes=$(stty -g 2>/dev/null); fi
if [ -n "$hf_stdin" ]; then exec 9<"$hf_stdin"; else exec 9<&0; fi
set -- /bin/sh "$hf_keep/stub.sh" "$hf_dir" "$hf_umask" "$hf_cd" "$hf_cgroup" "$@"
[ -z "$hf_systemd" ] || eval "set -- $hf_systemd \"\$@\""
[ -z "$hf_signals" ] || set -- env "--default-signal=$hf_signals" "$@"
[ -z "$hf_marker" ] || set -- prlimit "--rttime=$hf_marker:" "$@"
"$@" <&9 9<&- 8>&- &
hf_harness=$!
# From here on only stderr is kept, for the finisher: whoever reads our output must see its end when the agent closes it, and what a
# shell says of its children is for nobody.
exec 9<&- </dev/null >/dev/null 7>&2 2>/dev/null
umask 077
# Whoever limits the size of our files must not keep us from seeing the agent's end: what cannot be written is only not written.
trap '' XFSZ
# Ends a `wait` or a rest also when the agent has stopped itself.
trap "${hf_child:-:}" CHLD
if [ -n "$hf_told" ]; then set -- "$hf_told"; hf_told=''; hf_end "$1" 0; fi
if [ -n "$hf_timeout$hf_follow" ]; then
  hf_help /bin/sh "$hf_keep/timer.sh" "$hf_dir" "$hf_timeout" "$hf_follow" $$ "$hf_harness" "$hf_until" "$hf_node" "$hf_cli" "$hf_run" && hf_timer=$!
fi
hf_watch
