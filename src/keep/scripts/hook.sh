# hook.sh HARNESS EVENT: what an agent CLI calls at session-start, before-tool, prompt, waiting, turn-end and session-end; sourced with these set, or run.
# Outside a run everything is allowed at once. A retired agent's tool calls are denied; every other doubt lets the agent go on.
[ -n "${HOLDFAST_FENCE-}" ] && [ -n "${HOLDFAST_RUN-}" ] || exit 0
hf_harness=${1-} hf_event=${2-} hf_dir=${HOLDFAST_FENCE%/*}

# What it was said to be at last; when that was, the file itself knows.
hf_state=''
if [ -f "$hf_dir/activity" ]; then read -r hf_format hf_state <"$hf_dir/activity" || :; fi

# The way of nearly every call: nothing is said or forked, and read is one short line.
if [ "$hf_event" = before-tool ] && [ ! -e "$HOLDFAST_FENCE" ] && [ ! -e "$hf_dir/notice" ] && [ "$hf_state" = busy ]; then exit 0; fi

# Grok also runs the hooks that Claude's settings have.
if [ "$hf_harness" = claude ] && [ -n "${GROK_HOOK_EVENT-}" ]; then hf_harness=grok; fi

hf_newline='
'

# A command that gets so many seconds.
hf_within() {
  if command -v timeout >/dev/null 2>&1; then timeout "$@"
  else shift; "$@"; fi
}

# What it is at from now on, in place: each state is as long as the others, so that nobody reads half of one.
hf_is() {
  [ "$hf_state" != "$1" ] || return 1
  umask 077
  { printf '1 %-7s\n' "$1" 1<>"$hf_dir/activity"; } 2>/dev/null
}

# The harness's ids of the session that calls, a line each: strings of the payload's outermost object. One written with an escape (`?`
# stands for it) is none, since it cannot be compared. A line `?` says that not the session's own agent calls, but one inside it.
hf_ids() {
  LC_ALL=C
  export LC_ALL
  hf_within 5 awk '
    { all = all $0 " " }
    END {
      gsub(/\\./, "?", all)
      parts = split(all, part, "\"")
      for (i = 1; i <= parts; i += 2) {
        if (depth == 1 && i > 2 && part[i] ~ /^[ \t\r]*:[ \t\r]*$/) {
          if ((part[i - 1] == "session_id" || part[i - 1] == "sessionId") && part[i + 1] ~ /^[^? ]+$/) print part[i + 1]
          if (part[i - 1] == "agent_id" && part[i + 1] != "") print "?"
        }
        up = gsub(/[{[]/, "", part[i])
        depth += up - gsub(/[]}]/, "", part[i])
      }
    }' 2>/dev/null
}

# Is it proven that a shared daemon runs this session? Claude Code says so in the environment; codex's app server is above us.
hf_served() {
  case $hf_harness in
  claude) [ -n "${CLAUDE_JOB_DIR-}" ] ;;
  codex) hf_below app-server ;;
  *) return 1 ;;
  esac
}

# Is one of those that we were started from called with this word first?
hf_below() {
  hf_pid=$PPID hf_steps=0
  while [ "$hf_pid" -gt 1 ] && [ "$hf_steps" -lt 20 ]; do
    hf_line=$(tr '\000' ' ' <"/proc/$hf_pid/cmdline")
    case ${hf_line#* } in "$1 "*) return 0 ;; esac
    hf_line=''
    IFS= read -r hf_line <"/proc/$hf_pid/stat"
    hf_line=${hf_line##*) }
    hf_line=${hf_line#* }
    hf_pid=${hf_line%% *} hf_steps=$((hf_steps + 1))
    [ -n "$hf_pid" ] || return 1
  done 2>/dev/null
  return 1
}

# Who calls, read once: there is only one payload.
hf_callers=''
hf_asked=''
hf_ask() {
  [ -z "$hf_asked" ] || return 0
  hf_asked=yes
  hf_callers=$(hf_ids)
}

# A daemon that serves many sessions has the environment of whoever called it first: is the caller proven to be none of this run's?
hf_stranger() {
  hf_served && [ -s "$hf_dir/native" ] || return 1
  hf_ask
  hf_foreign
}

# Does one call that the agent has started: inside its own conversation, or with another one? It shall not hear what is meant for the agent.
hf_inner() {
  hf_ask
  case $hf_newline$hf_callers$hf_newline in *"$hf_newline?$hf_newline"*) return 0 ;; esac
  hf_foreign
}

# Has this run conversations of this harness, and are the caller's none of them?
hf_foreign() {
  [ -s "$hf_dir/native" ] && [ -n "$hf_callers" ] || return 1
  hf_known=''
  # Where it went although another has it (refused), it is still the one.
  for hf_file in native refused; do
    [ -r "$hf_dir/$hf_file" ] || continue
    while read -r hf_of hf_id || [ -n "$hf_of" ]; do
      [ "$hf_of" = "$hf_harness" ] || continue
      hf_known=yes
      case $hf_newline$hf_callers$hf_newline in *"$hf_newline$hf_id$hf_newline"*) return 1 ;; esac
    done <"$hf_dir/$hf_file"
  done
  [ -n "$hf_known" ]
}

# Does another agent call than the one that the run is about? What that one is at, only its own harness can say, once its conversation is known.
hf_other() {
  [ -s "$hf_dir/native" ] || return 1
  hf_kin=''
  while read -r hf_of hf_id || [ -n "$hf_of" ]; do
    [ "$hf_of" != "$hf_harness" ] || hf_kin=yes
  done <"$hf_dir/native"
  [ -n "$hf_kin" ] || return 0
  hf_ask
  hf_foreign
}

# Who retired it, and why, is told in JSON: `by` and `reason` are kept as they are escaped there.
hf_why() {
  hf_line='' hf_what='was retired'
  IFS= read -r hf_line <"$HOLDFAST_FENCE" || :
  case $hf_line in
  *'"by":"holdfast"'*) hf_what='was fenced off' ;;
  *'"end":"superseded"'*) hf_what='was taken over by somebody else' ;;
  *'"end":"stopped"'*) hf_what='was stopped' ;;
  esac
  case $hf_line in
  *'"by":"'*'","reason":"'*'"}'*)
    hf_line=${hf_line#*'"by":"'}
    hf_by=${hf_line%%'","reason":"'*} hf_line=${hf_line#*'","reason":"'}
    hf_what="$hf_what (by $hf_by: ${hf_line%'"}'*})"
    ;;
  esac
  hf_said="Holdfast: denied. Session ${HOLDFAST_SESSION-}, which this agent worked for, $hf_what, so no tool call of this agent is carried out any more."
  hf_said="$hf_said Stop working now and tell the user. What became of the session: holdfast status ${HOLDFAST_SESSION-}"
}

hf_deny() {
  hf_why
  case $hf_harness in
  copilot) printf '{"permissionDecision":"deny","permissionDecisionReason":"%s"}\n' "$hf_said"; exit 0 ;;
  gemini) printf '{"decision":"deny","reason":"%s"}\n' "$hf_said"; exit 0 ;;
  esac
  hf_plain=$(printf '%s\n' "$hf_said" | sed 's/\\\(["\\]\)/\1/g' 2>/dev/null)
  printf '%s\n' "${hf_plain:-$hf_said}" >&2
  exit 2
}

# As it stands between the quotes of a JSON string, and says who speaks.
hf_escaped() {
  LC_ALL=C tr -d '\000-\011\013-\037\177' | LC_ALL=C sed 's/[\\"]/\\&/g' | LC_ALL=C awk '{ printf "%s%s", (NR > 1 ? "\\n" : "Holdfast: "), $0 }'
}

# What somebody left for the agent or its user (a folder, a file each) is told once: by the call that moves it away.
hf_notice() {
  # Their models hear nothing of a hook before a tool: there it waits for the next prompt.
  case $hf_harness in gemini | qwen | droid) exit 0 ;; esac
  hf_inner && exit 0
  hf_taken=$hf_dir/notice.$$
  [ ! -e "$hf_taken" ] || rm -rf "$hf_taken"
  mv "$hf_dir/notice" "$hf_taken" 2>/dev/null || exit 0
  # (An older Holdfast has left one file instead of a folder.)
  hf_plain=$(cat "$hf_taken" "$hf_taken"/* 2>/dev/null)
  rm -rf "$hf_taken"
  [ -n "$hf_plain" ] || exit 0
  hf_said=$(printf '%s\n' "$hf_plain" | hf_escaped)
  case $hf_harness in
  claude | codex | grok)
    printf '{"systemMessage":"%s","hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"%s"}}\n' "$hf_said" "$hf_said"
    ;;
  copilot) printf '{"additionalContext":"%s"}\n' "$hf_said" ;;
  *) printf 'Holdfast: %s\n' "$hf_plain" >&2 ;;
  esac
  exit 0
}

# Node keeps the books: what the harness says of its session goes there, and what it shall hear comes back.
hf_report() {
  hf_cli=${0%/*}/cli.cjs hf_node=${HOLDFAST_NODE:-node}
  [ -r "$hf_cli" ] && command -v "$hf_node" >/dev/null 2>&1 || exit 0
  hf_within 10 "$hf_node" "$hf_cli" _hook "$hf_harness" "$hf_event"
  exit 0
}

# A change of what it is at goes on record, with nothing said.
hf_tell() {
  hf_cli=${0%/*}/cli.cjs hf_node=${HOLDFAST_NODE:-node}
  [ -r "$hf_cli" ] && command -v "$hf_node" >/dev/null 2>&1 || return 0
  hf_within 10 "$hf_node" "$hf_cli" _hook "$hf_harness" "$hf_event" </dev/null >/dev/null 2>&1
}

case $hf_event in
before-tool)
  if [ -e "$HOLDFAST_FENCE" ]; then
    hf_stranger && exit 0
    hf_deny
  fi
  # A turn that was over is behind it; what the agent has started does not speak for it. But whoever of it goes on, an answer was given.
  if [ "$hf_state" != busy ] && ! hf_other && { [ "$hf_state" = waiting ] || ! hf_inner; }; then hf_is busy; fi
  [ ! -e "$hf_dir/notice" ] || hf_notice
  ;;
turn-end)
  # (Who was asked for more by another hook has answered all the same: its next tool call says that it goes on.)
  if ! hf_other && ! hf_inner && hf_is idle; then hf_tell; fi
  ;;
waiting)
  # Whose turn is over needs no answer: some harnesses also call when nobody has said anything for long. Nor is it known of what grok calls.
  # What asks may be inside of it: it is the same person who answers. Nobody waits for the record, least of all the
  # question: hence a shell of its own, since one that redirects a function keeps what it will put back open, and the harness waits for that.
  if [ "$hf_state" != idle ] && [ "$hf_harness" != grok ] && ! hf_other && hf_is waiting; then (hf_tell) </dev/null >/dev/null 2>&1 & fi
  ;;
session-start | session-end) hf_report ;;
# Whatever goes wrong with it is nothing for the agent.
prompt) hf_report 2>/dev/null ;;
esac
exit 0
