import { BUG_PROBLEMS, COMMAND_LINE_PROBLEMS } from './problems/command-line.ts'
import { DAEMON_PROBLEMS, SERVICE_PROBLEMS } from './problems/daemon.ts'
import { HOOK_PROBLEMS, PANE_PROBLEMS, WORKTREE_PROBLEMS } from './problems/place.ts'
import { LOCK_PROBLEMS, SESSION_PROBLEMS, STOP_PROBLEMS, TALK_PROBLEMS } from './problems/session.ts'
import { ADOPT_PROBLEMS, AGENT_PROBLEMS, CONVERSATION_PROBLEMS, START_PROBLEMS } from './problems/start.ts'
import { HOME_PROBLEMS, STORE_PROBLEMS } from './problems/storage.ts'
import { SYSTEM_PROBLEMS } from './problems/system.ts'
import { WORK_PROBLEMS } from './problems/work.ts'
import { SOURCE_PROBLEMS } from './problems/work-source.ts'

/** Every problem, by capability. The keys are the headings of docs/reference/problems.md. */
export const PROBLEM_GROUPS = {
  'Command line': COMMAND_LINE_PROBLEMS,
  Start: START_PROBLEMS,
  Adopt: ADOPT_PROBLEMS,
  'Agents and prompts': AGENT_PROBLEMS,
  Conversations: CONVERSATION_PROBLEMS,
  Sessions: SESSION_PROBLEMS,
  'Stop and resolve': STOP_PROBLEMS,
  'Directories and locks': LOCK_PROBLEMS,
  'Callers and messages': TALK_PROBLEMS,
  Panes: PANE_PROBLEMS,
  Worktrees: WORKTREE_PROBLEMS,
  Work: WORK_PROBLEMS,
  Sources: SOURCE_PROBLEMS,
  Hooks: HOOK_PROBLEMS,
  Daemon: DAEMON_PROBLEMS,
  Service: SERVICE_PROBLEMS,
  Store: STORE_PROBLEMS,
  'Home and configuration': HOME_PROBLEMS,
  System: SYSTEM_PROBLEMS,
  Bugs: BUG_PROBLEMS,
} as const

/** Every problem, by its id. */
export const PROBLEMS = {
  ...COMMAND_LINE_PROBLEMS,
  ...START_PROBLEMS,
  ...ADOPT_PROBLEMS,
  ...AGENT_PROBLEMS,
  ...CONVERSATION_PROBLEMS,
  ...SESSION_PROBLEMS,
  ...STOP_PROBLEMS,
  ...LOCK_PROBLEMS,
  ...TALK_PROBLEMS,
  ...PANE_PROBLEMS,
  ...WORKTREE_PROBLEMS,
  ...WORK_PROBLEMS,
  ...SOURCE_PROBLEMS,
  ...HOOK_PROBLEMS,
  ...DAEMON_PROBLEMS,
  ...SERVICE_PROBLEMS,
  ...STORE_PROBLEMS,
  ...HOME_PROBLEMS,
  ...SYSTEM_PROBLEMS,
  ...BUG_PROBLEMS,
} as const

/** The stable name of a reason, for programs and tests. */
export type ProblemId = keyof typeof PROBLEMS
