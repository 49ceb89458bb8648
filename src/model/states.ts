/** The states of a run and what may follow what. The store's conditions are made from this table. */
export const LIVE_STATES = ['starting', 'running', 'stopping'] as const
export const END_STATES = ['completed', 'failed', 'stopped', 'superseded', 'lost'] as const
export type LiveState = (typeof LIVE_STATES)[number]
export type EndState = (typeof END_STATES)[number]
export type RunState = LiveState | EndState

/**
 * recorded: the keeper is in the store, the gate may open · asked: somebody wants it to end · exited: the harness is gone,
 * its tree is not · the others: proven over, with that result.
 */
export const RUN_EVENTS = ['recorded', 'asked', 'exited', ...END_STATES] as const
export type RunEvent = (typeof RUN_EVENTS)[number]

/** `refused` is an answer, not an error: the writer came too late and changes nothing. */
export type Next = RunState | 'refused'

const ended: Readonly<Record<RunEvent, Next>> = {
  recorded: 'refused',
  asked: 'refused',
  exited: 'refused',
  completed: 'refused',
  failed: 'refused',
  stopped: 'refused',
  superseded: 'refused',
  lost: 'refused',
}
const endings = { completed: 'completed', failed: 'failed', stopped: 'stopped', superseded: 'superseded', lost: 'lost' } as const

export const RUN_TABLE: Readonly<Record<RunState, Readonly<Record<RunEvent, Next>>>> = {
  starting: { recorded: 'running', asked: 'stopping', exited: 'refused', ...endings, completed: 'refused' },
  running: { recorded: 'refused', asked: 'stopping', exited: 'stopping', ...endings },
  stopping: { recorded: 'refused', asked: 'stopping', exited: 'stopping', ...endings },
  completed: ended,
  failed: ended,
  stopped: ended,
  superseded: ended,
  lost: ended,
}

export const statesThatTake = (event: RunEvent): RunState[] =>
  [...LIVE_STATES, ...END_STATES].filter((state) => RUN_TABLE[state][event] !== 'refused')
