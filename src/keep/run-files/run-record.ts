import { isSessionId, type RunRecord } from '../../model/index.ts'

type Shape = { readonly [K in keyof RunRecord]-?: (value: unknown) => boolean }

const isText = (value: unknown): boolean => typeof value === 'string'
const isFlag = (value: unknown): boolean => typeof value === 'boolean'
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
const isAmount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const orNull = (is: (value: unknown) => boolean) => (value: unknown) => value === null || is(value)
const isProcess = (value: unknown): boolean => isObject(value) && isCount(value['pid']) && isCount(value['ticks'])
const isOneOf =
  (...words: readonly string[]) =>
  (value: unknown) =>
    words.some((word) => word === value)

/** So far an epoch can grow: with one claim in a millisecond, for thirty years. */
const MOST_EPOCHS = 1e12

const SHAPE: Shape = {
  id: isText,
  session: (value) => typeof value === 'string' && isSessionId(value),
  epoch: (value) => isCount(value) && Number(value) > 0 && Number(value) < MOST_EPOCHS,
  place: (value) => isObject(value) && ['install', 'machine', 'boot', 'pidNamespace', 'timeNamespace'].every((name) => isText(value[name])),
  launcher: isProcess,
  keeper: orNull(isProcess),
  marker: orNull(isCount),
  containment: (value) => isObject(value) && isText(value['level']),
  cookie: isText,
  argv: isTexts,
  dir: (value) => typeof value === 'string' && value.startsWith('/'),
  detached: isFlag,
  until: isOneOf('harness', 'tree'),
  deadlineAt: orNull(isCount),
  parent: orNull(isText),
  independent: isFlag,
  task: orNull(isOneOf('cancel', 'adopt')),
  adopted: isFlag,
  budget: orNull(isCount),
  budgetCost: orNull(isAmount),
  tmux: orNull((value) => isObject(value) && isText(value['socket']) && isText(value['name'])),
  host: isText,
  user: isText,
  tty: orNull(isText),
  startedAt: isCount,
  former: (value) => value === undefined || (isTexts(value) && (value as string[]).every(isSessionId)),
}

/** One that is no record throughout is none: half of the truth about a run is worse than none. */
export const isRunRecord = (record: Readonly<Record<string, unknown>>): boolean => Object.entries(SHAPE).every(([name, is]) => is(record[name]))
