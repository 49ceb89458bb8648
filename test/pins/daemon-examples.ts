import { either } from './matcher.ts'

/** A part of the daemon by its name, with its counts. `nextTry` is null while it is at work. */
const part = (name: string, counts: Record<string, unknown>): Record<string, unknown> => ({
  name,
  lastSuccess: '<iso>',
  failures: 0,
  lastError: null,
  nextTry: either('<iso>', null),
  counts,
})

/** In the order in which the daemon starts them. */
const DAEMON_PARTS = [
  part('home', {}),
  part('reconcile', {
    runs: '<count>',
    alive: '<count>',
    unknown: '<count>',
    sick: '<count>',
    stuck: '<count>',
    changes: '<count>',
    endings: '<count>',
    adopted: '<count>',
    ms: '<count>',
  }),
  part('watch', { runs: '<count>', watches: '<count>', unwatched: '<count>' }),
  // It begins minutes after the daemon.
  { ...part('prune', {}), lastSuccess: null },
  part('anchors', { removed: '<count>' }),
  part('config', {}),
  part('http', { connections: '<count>' }),
  part('activity', { busy: '<count>', waiting: '<count>', idle: '<count>', changes: '<count>' }),
  part('notify', { told: '<count>', held: '<count>' }),
  part('notify-desktop', { told: '<count>', dropped: '<count>' }),
  part('notify-bell', { told: '<count>', dropped: '<count>' }),
  part('notify-command', { told: '<count>', dropped: '<count>' }),
  part('work', {}),
  part('sources', { sources: '<count>', unwell: '<count>' }),
  part('store', {}),
]

/** `daemon status --json`. */
export const DAEMON = {
  pid: '<pid>',
  healthy: true,
  http: 'http://127.0.0.1:<port>',
  parts: DAEMON_PARTS,
  liveness: 'alive',
  frozen: false,
  answered: true,
  why: null,
  asOf: '<iso>',
  version: '<version>',
  protocol: 1,
  startedAt: '<iso>',
  startedBy: 'start',
  socket: '<path>',
  command: '<version>',
  repaired: [],
}

export const NO_DAEMON = {
  pid: null,
  healthy: false,
  http: null,
  parts: [],
  liveness: 'dead',
  frozen: false,
  answered: false,
  why: 'no daemon runs',
  asOf: null,
  version: null,
  protocol: null,
  startedAt: null,
  startedBy: null,
  socket: null,
  command: '<version>',
  repaired: [],
}
