# hook.sh HARNESS EVENT: an agent CLI calls it at session-start, before-tool, prompt, waiting, turn-end and session-end; run, or sourced with these set.
# Outside a run everything is allowed at once; only a prompt is looked at. A retired agent's tool calls are denied. Any other doubt lets the agent go on.
if [ -z "${HOLDFAST_FENCE-}" ] || [ -z "${HOLDFAST_RUN-}" ]; then
  # A plain agent is warned where its conversation may be that of a live session. Without any conversation of ours there is nothing to ask.
  [ "${2-}" = prompt ] || exit 0
  hf_home=${HOLDFAST_HOME:-${XDG_STATE_HOME:-${HOME-}/.local/state}/holdfast}
  for hf_file in "$hf_home"/runs/*/native; do [ -e "$hf_file" ] && break; done
  [ -e "$hf_file" ] || exit 0
  set -- "${1-}" plain
fi
hf_harness=${1-} hf_event=${2-} hf_dir=${HOLDFAST_FENCE-}
hf_dir=${hf_dir%/*}

# The last known activity; the file's own time says since when.
hf_state=''
# shellcheck disable=SC2034 # The first word is the file's format.
if [ "$hf_event" != plain ] && [ -f "$hf_dir/activity" ]; then read -r hf_format hf_state <"$hf_dir/activity" || :; fi

# Nearly every call ends here: it prints nothing and forks nothing.
case $hf_event:$hf_state in
before-tool:busy) if [ ! -e "$HOLDFAST_FENCE" ] && [ ! -e "$hf_dir/notice" ]; then exit 0; fi ;;
turn-end:idle | waiting:idle | waiting:waiting) exit 0 ;;
esac
# A run directory that is gone has no fence, and nothing to write to.
case $hf_event in before-tool | turn-end | waiting) [ -e "$hf_dir" ] || exit 0 ;; esac

# Sets hf_dist, the folder of this file. A shell that sources it has its path only in the command line.
hf_find() {
  case $0 in */hook.sh) hf_dist=${0%/*}; return ;; esac
  hf_line=''
  IFS= read -r hf_line <"/proc/$$/cmdline"
  hf_dist='' hf_quote="'\\''"
  case $hf_line in *". '"*"/hook.sh'"*) hf_dist=${hf_line#*". '"} hf_dist=${hf_dist%%"/hook.sh'"*} ;; esac
  # The installer writes a quote in the path as '\''.
  while :; do
    case $hf_dist in *"$hf_quote"*) hf_dist="${hf_dist%%"$hf_quote"*}'${hf_dist#*"$hf_quote"}" ;; *) break ;; esac
  done
  [ -r "$hf_dist/hook.cjs" ] || hf_dist=${HOLDFAST_DIST-}
}

# Node does the rest: hook.cjs lies beside this file. Status 127: Node cannot run.
hf_ask() {
  hf_find 2>/dev/null
  hf_node=${HOLDFAST_NODE:-node}
  command -v "$hf_node" >/dev/null 2>&1 || hf_node=node
  [ -r "$hf_dist/hook.cjs" ] && command -v "$hf_node" >/dev/null 2>&1 || return 127
  if command -v timeout >/dev/null 2>&1; then timeout 10 "$hf_node" "$hf_dist/hook.cjs" "$@"
  else "$hf_node" "$hf_dist/hook.cjs" "$@"; fi
}

# Sets hf_shared and hf_deaf from the run's facts about this harness. Without that file, a daemon may be the caller.
hf_learn() {
  hf_shared='' hf_deaf=''
  [ -f "$hf_dir/facts" ] && [ -r "$hf_dir/facts" ] || { hf_shared=yes; return 0; }
  while read -r hf_name hf_fact hf_word; do
    [ "$hf_name" = "$hf_harness" ] || continue
    case $hf_fact in
    variable)
      case $hf_word in '' | [0-9]* | *[!A-Za-z0-9_]*) continue ;; esac
      if eval "[ -n \"\${$hf_word-}\" ]"; then hf_shared=yes; fi
      ;;
    above) if hf_above "$hf_word"; then hf_shared=yes; fi ;;
    deaf) hf_deaf=yes ;;
    esac
  done <"$hf_dir/facts"
}

# Does this word stand in the command line of a process above us? It may stand there for another reason: Node looks closer.
hf_above() {
  hf_pid=$PPID hf_steps=0
  while [ "${hf_pid:-0}" -gt 1 ] && [ "$hf_steps" -lt 20 ]; do
    hf_line=''
    IFS= read -r hf_line <"/proc/$hf_pid/cmdline"
    case $hf_line in *"$1"*) return 0 ;; esac
    hf_line=''
    IFS= read -r hf_line <"/proc/$hf_pid/stat"
    hf_line=${hf_line##*) } hf_line=${hf_line#* }
    hf_pid=${hf_line%% *} hf_steps=$((hf_steps + 1))
  done 2>/dev/null
  return 1
}

# Prints the denial that was rendered when the run was retired: this harness's own form, or plain text. Only what was printed denies with status 0.
hf_deny() {
  if hf_print "$hf_dir/denial.$hf_harness"; then exit 0; fi
  # These two take status 2 for a hook that failed. An older Holdfast, or a full disk, left no file for them.
  case $hf_harness in
  gemini) printf '%s\n' '{"decision":"deny","reason":"Holdfast: denied. This agent was retired. Stop working now and tell the user."}'; exit 0 ;;
  copilot) printf '%s\n' '{"permissionDecision":"deny","permissionDecisionReason":"Holdfast: denied. This agent was retired. Stop working now and tell the user."}'; exit 0 ;;
  esac
  if ! hf_print "$hf_dir/denial" >&2; then
    printf '%s\n' 'Holdfast: denied. This agent was retired. Stop working now and tell the user.' >&2
  fi
  exit 2
}

# No other program is needed to deny. False: there was nothing to print.
hf_print() {
  [ -f "$1" ] && [ -r "$1" ] || return 1
  hf_printed=''
  while IFS= read -r hf_line || [ -n "$hf_line" ]; do printf '%s\n' "$hf_line" && hf_printed=yes; done <"$1"
  [ -n "$hf_printed" ]
}

# The statuses of hook.cjs: 3, the call is proven to be another session's; 4, the change is still to be put on record.
case $hf_event in
before-tool)
  hf_learn
  if [ -e "$HOLDFAST_FENCE" ]; then
    if [ -n "$hf_shared" ]; then
      hf_ask "$hf_harness" before-tool >/dev/null 2>&1
      [ $? -ne 3 ] || exit 0
    fi
    hf_deny
  fi
  if [ "$hf_state" != busy ] || { [ -e "$hf_dir/notice" ] && [ -z "$hf_deaf" ]; }; then
    hf_said=$(hf_ask "$hf_harness" before-tool)
    # Node takes a while: the run may have been retired meanwhile. For another session's call the next look decides.
    if [ -e "$HOLDFAST_FENCE" ] && [ -z "$hf_shared" ]; then hf_deny; fi
    [ -z "$hf_said" ] || printf '%s\n' "$hf_said"
  fi
  ;;
waiting)
  # The question waits until the file says so, not for the record. (A subshell: a redirected function keeps the harness's descriptors open.)
  hf_ask "$hf_harness" waiting >/dev/null 2>&1
  if [ $? -eq 4 ]; then (hf_ask "$hf_harness" record) </dev/null >/dev/null 2>&1 & fi
  ;;
turn-end) hf_ask "$hf_harness" turn-end >/dev/null 2>&1 ;;
prompt | plain) hf_ask "$hf_harness" "$hf_event" 2>/dev/null ;;
session-start | session-end) hf_ask "$hf_harness" "$hf_event" ;;
esac
exit 0
