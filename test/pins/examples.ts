import { each, either } from './matcher.ts'

/** What the built command prints for real sessions. Values that differ from run to run are patterns; everything else is literal. */

const CONTAINMENT = either({ level: 'cgroup', path: '<path>' }, { level: 'scope', unit: '<id>' }, { level: 'none', why: '<text>' })
const CONTAINMENT_SEEN = either(
  { level: 'cgroup', path: '<path>', entered: true },
  { level: 'scope', unit: '<id>', entered: true },
  { level: 'none', why: '<text>', entered: false },
)
/** `proof` depends on whether this machine has a cgroup for the run. */
export const PROOF = either('cgroup', 'marker')
export const USAGE = { cpuMs: '<count>', whole: either(true, false), tokens: null }

/** `ls --json`: a live session. */
export const LISTED = {
  session: 's',
  name: 'web',
  run: '<run>',
  epoch: 1,
  state: 'running',
  liveness: 'alive',
  pid: '<pid>',
  keeper: '<pid>',
  dir: '<path>',
  harness: null,
  nativeId: null,
  argv: ['<path>', 'idle'],
  detached: true,
  tmux: null,
  startedAt: '<iso>',
  endedAt: null,
  exit: null,
  reason: null,
  evidence: [],
  endedBy: null,
  activity: null,
  note: null,
  survivors: [],
  owner: { host: '<text>', user: '<text>', pid: '<pid>', since: '<iso>', tty: null, attach: 'holdfast attach s' },
  parent: null,
  tasks: [],
  usage: null,
  budget: null,
  budgetCost: null,
  containment: CONTAINMENT,
  adopted: false,
  worktree: null,
  managed: true,
  duplicateOf: [],
}

/** `ls --json`: a session in a pane of tmux. */
export const HOSTED = {
  ...LISTED,
  session: 't',
  name: null,
  tmux: { socket: '<path>', session: '<run>' },
  owner: { host: '<text>', user: '<text>', pid: '<pid>', since: '<iso>', tty: null, attach: 'holdfast attach t' },
}

/** `ls --all --json`: the same session when it was stopped. */
export const STOPPED = {
  ...LISTED,
  state: 'stopped',
  liveness: 'dead',
  endedAt: '<iso>',
  exit: { code: 143, signal: 'SIGTERM' },
  reason: 'stopped by <text>@<text>',
  evidence: each('<text>'),
  endedBy: '<text>@<text>',
  owner: null,
  usage: USAGE,
}

/** `status --json` has no `managed` and no `duplicateOf`, and more about the present. */
export const STATUS = {
  session: 's',
  name: 'web',
  run: '<run>',
  epoch: 1,
  state: 'running',
  liveness: 'alive',
  pid: '<pid>',
  keeper: '<pid>',
  dir: '<path>',
  harness: null,
  nativeId: null,
  argv: ['<path>', 'idle'],
  detached: true,
  tmux: null,
  startedAt: '<iso>',
  endedAt: null,
  exit: null,
  reason: null,
  evidence: [],
  endedBy: null,
  activity: null,
  note: null,
  survivors: [],
  owner: { host: '<text>', user: '<text>', pid: '<pid>', since: '<iso>', tty: null, attach: 'holdfast attach s' },
  parent: null,
  tasks: [],
  usage: USAGE,
  budget: null,
  budgetCost: null,
  containment: CONTAINMENT_SEEN,
  adopted: false,
  worktree: null,
  said: { plan: null, result: null },
  unread: 0,
  unreadEarlier: 0,
  sharedWith: [],
  neighbours: [],
}

/** `siblings --json`. */
export const SIBLING = {
  session: 's',
  name: 'web',
  run: '<run>',
  pid: '<pid>',
  dir: '<path>',
  branch: null,
  harness: null,
  nativeId: null,
  since: '<iso>',
  liveness: 'alive',
  state: 'running',
  activity: null,
  relation: null,
  doing: null,
  locks: [],
  ports: [],
  usage: null,
  tasks: [],
  note: null,
}

/** The holder of a lock: in `locks`, `lock`, `lock --check` and `unlock`. */
export const LOCK_HOLDER = {
  session: 's',
  run: '<run>',
  pid: '<pid>',
  kind: 'run',
  since: '<iso>',
  dir: '<path>',
  reason: '<text>',
  host: '<text>',
  user: '<text>',
  attach: null,
}
/** The holder of a lock that was taken by hand for a time. */
export const HAND_HOLDER = { ...LOCK_HOLDER, session: null, run: null, pid: null, kind: 'time', reason: 'mine' }

/** `locks --json`. */
export const LOCK = {
  dir: '<path>',
  pid: '<pid>',
  session: 's',
  kind: 'run',
  since: '<iso>',
  reason: '<text>',
  run: '<run>',
  state: 'held',
  proof: '<text>',
  expiresAt: null,
  shared: false,
  sharedWith: [],
  neighbours: [],
  holder: LOCK_HOLDER,
}
export const HAND_LOCK = {
  ...LOCK,
  pid: null,
  session: null,
  kind: 'time',
  reason: 'mine',
  run: null,
  expiresAt: '<iso>',
  holder: HAND_HOLDER,
}

/** The holder in a refusal. */
export const HOLDER = {
  session: 's',
  run: '<run>',
  pid: '<pid>',
  since: '<iso>',
  dir: '<path>',
  host: '<text>',
  user: '<text>',
  tty: null,
  attach: 'holdfast attach s',
}

/** `stop --json`. */
export const ENDED = {
  session: 's',
  result: 'ended',
  state: 'stopped',
  run: '<run>',
  ended: [{ pid: '<pid>', name: 'sleep', proof: PROOF, ports: [] }],
  spared: [],
  survivors: [],
  suspects: [],
  why: null,
}
