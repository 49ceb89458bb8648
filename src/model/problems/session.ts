import type { ProblemTable } from '../exit-code.ts'

/** Problems of a session or run that a command names. */
export const SESSION_PROBLEMS = {
  'session-unknown': { kind: 'notFound', means: 'No session has this id or name.' },
  'session-ambiguous': { kind: 'notFound', means: 'Several sessions begin with this id.' },
  'session-none': { kind: 'notFound', means: 'There is no session to resume.' },
  'session-id-invalid': { kind: 'badCommand', means: 'The text cannot be the id or name of a session.' },
  'session-id-taken': { kind: 'held', means: 'Another session took the id a moment ago.' },
  'session-not-running': { kind: 'notFound', means: 'The session has no live run.' },
  'session-still-running': { kind: 'held', means: 'The session did not end within the given time.' },
  'session-in-foreground': { kind: 'held', means: 'The session runs on another terminal and cannot be attached.' },
  'session-unknown-without-store': { kind: 'unavailable', means: 'The store is unusable, and no run directory shows the session.' },
  'session-contended': { kind: 'held', means: 'Too many competing commands tried to change the session.' },
  'session-wanted': { kind: 'held', means: 'An open request of the worker is about the session.' },
  'name-taken': { kind: 'badCommand', means: 'Another session has this name.' },
  'run-unknown': { kind: 'notFound', means: 'The run is not on record.' },
  'run-unreadable': { kind: 'unavailable', means: 'The row of the run in the store is damaged.' },
  'run-record-unreadable': {
    kind: 'unproven',
    means: 'A run directory has no row, and its record cannot be read: where its agent works is unknown.',
  },
  'uninstall-sessions-live': { kind: 'held', means: 'A live session keeps Holdfast from being uninstalled.' },
  'output-not-kept': { kind: 'notFound', means: 'The output of a foreground run is not kept.' },
} as const satisfies ProblemTable

/** Problems of `stop` and `resolve`. */
export const STOP_PROBLEMS = {
  'pid-invalid': { kind: 'badCommand', means: 'The text is no pid that Holdfast may signal.' },
  'suspect-unknown': { kind: 'notFound', means: 'The process is no suspect of any session.' },
  'session-not-gone': { kind: 'held', means: 'The session shows signs of life, so it cannot be resolved as gone.' },
  'session-changed': { kind: 'held', means: 'The session changed while Holdfast looked at it.' },
} as const satisfies ProblemTable

/** Problems of directories and their locks. */
export const LOCK_PROBLEMS = {
  'directory-held': { kind: 'held', means: 'A live holder has a lock on the directory, a parent or a child.' },
  'directory-unproven': { kind: 'unproven', means: 'The holder of the directory cannot be proven dead.' },
  'directory-in-use': { kind: 'held', means: 'An agent that Holdfast did not start works in the directory.' },
  'directory-missing': { kind: 'notFound', means: 'The path names no directory.' },
  'directory-unreadable': { kind: 'notFound', means: 'The directory cannot be entered.' },
  'directory-of-git': { kind: 'badCommand', means: 'The directory belongs to git and cannot be locked.' },
  'lock-contended': { kind: 'held', means: 'Too many competing commands tried to lock the directory.' },
  'lock-holder-missing': { kind: 'badCommand', means: 'The command has no calling shell that could hold the lock.' },
  'lock-holder-init': { kind: 'notFound', means: 'Pid 1 cannot hold a lock.' },
  'lock-agent-missing': { kind: 'unavailable', means: 'The calling agent has no live process that could hold the lock.' },
  'lock-of-run': { kind: 'held', means: 'The lock belongs to a live run and ends with it.' },
  'lock-not-yours': { kind: 'held', means: 'The lock belongs to another holder.' },
  'lock-unproven': { kind: 'unproven', means: 'The lock belongs to another holder, which cannot be proven dead.' },
} as const satisfies ProblemTable

/** Problems of the caller, and of messages between sessions. */
export const TALK_PROBLEMS = {
  'caller-unknown': { kind: 'unproven', means: 'Holdfast cannot identify the caller.' },
  'caller-retired': { kind: 'held', means: 'The session of the calling agent was retired.' },
  'caller-replaced': { kind: 'held', means: 'The session of the caller has another owner now.' },
  'caller-ended': { kind: 'notFound', means: 'The run of the caller has ended.' },
  'caller-outside-session': { kind: 'notFound', means: 'The caller is in no session.' },
  'message-to-self': { kind: 'badCommand', means: 'A session cannot send a message to itself.' },
  'message-undelivered': { kind: 'notFound', means: 'The receiver ended before the message reached it.' },
  'inbox-full': { kind: 'held', means: 'The receiver has too many unread messages.' },
  'inbox-foreign': { kind: 'badCommand', means: 'The inbox of another session can only be read with `--peek`.' },
  'text-empty': { kind: 'badCommand', means: 'The text is empty.' },
  'text-too-long': { kind: 'badCommand', means: 'The text is longer than the limit.' },
} as const satisfies ProblemTable
