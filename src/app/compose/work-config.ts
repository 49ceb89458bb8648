import { LIMIT_POLICIES, type Publish, policy, type SecretRef, type SourceSettings, WORK_DEFAULT, type WorkConfig } from '../../model/index.ts'

const MOST = 1_000
const PUBLISH: readonly Publish[] = ['none', 'branch']
type Fault = (what: string) => Error

/** `[work]`. Every fault is a sentence that names the key. */
export function workFrom(table: unknown, path: string): WorkConfig {
  const wrong: Fault = (what) => new Error(`${path}: ${what}`)
  const keys = keysOf(table, 'work', wrong)
  const config: WorkConfig = {
    daemon: keys.yes('daemon') ?? WORK_DEFAULT.daemon,
    agent: keys.words('agent'),
    limits: {
      atOnce: keys.count('at_once', 1) ?? WORK_DEFAULT.limits.atOnce,
      perRepository: keys.count('per_repository', 1) ?? WORK_DEFAULT.limits.perRepository,
      perLabel: keys.counts('per_label') ?? WORK_DEFAULT.limits.perLabel,
    },
    publish: keys.oneOf('publish', PUBLISH) ?? WORK_DEFAULT.publish,
    review: keys.yes('review') ?? WORK_DEFAULT.review,
    reworkLimit: keys.count('rework', 0) ?? WORK_DEFAULT.reworkLimit,
    usageLimit: keys.oneOf('usage_limit', LIMIT_POLICIES) ?? WORK_DEFAULT.usageLimit,
  }
  keys.done()
  return config
}

/** `[source.NAME]`: where requests come from. */
export function sourcesFrom(tables: unknown, path: string, work: WorkConfig): SourceSettings[] {
  const wrong: Fault = (what) => new Error(`${path}: ${what}`)
  if (!isTable(tables)) throw wrong('source is a table: [source.NAME]')
  return Object.entries(tables).map(([name, table]) => {
    if (!/^[a-z][a-z\d-]{0,31}$/.test(name)) throw wrong(`[source.${name}]: a name is of small letters, digits and -, and has at most 32 of them`)
    const keys = keysOf(table, `source.${name}`, wrong)
    const source: SourceSettings = {
      name,
      kind: keys.oneOf('kind', ['http'] as const) ?? 'http',
      url: keys.text('url') ?? fail(wrong(`source.${name}.url is needed, such as url = "https://plane.example"`)),
      token: secretIn(keys, `source.${name}`, wrong),
      repo: directory(keys.text('repo'), `source.${name}.repo`, wrong),
      repositories: Object.fromEntries(
        Object.entries(keys.texts('repositories') ?? {}).map(([key, dir]) => [key, directory(dir, `source.${name}.repositories`, wrong) ?? '']),
      ),
      labels: keys.words('labels') ?? [],
      harness: keys.text('agent') ?? work.agent?.[0] ?? fail(wrong(`source.${name}.agent is needed, since [work] names no agent`)),
      publish: keys.oneOf('publish', PUBLISH) ?? work.publish,
      review: keys.yes('review') ?? work.review,
      reworkLimit: keys.count('rework', 0) ?? work.reworkLimit,
      open: keys.count('open', 1) ?? policy.sourceOpen,
    }
    keys.done()
    return source
  })
}

function secretIn(keys: Keys, where: string, wrong: Fault): SecretRef | null {
  const [file, env, command] = [keys.text('token_file'), keys.text('token_env'), keys.words('token_command')]
  const named = [...(file === null ? [] : [{ file }]), ...(env === null ? [] : [{ env }]), ...(command === null ? [] : [{ command }])]
  if (named.length > 1) throw wrong(`${where} has more than one of token_file, token_env and token_command`)
  return named[0] ?? null
}

function directory(text: string | null, key: string, wrong: Fault): string | null {
  if (text === null || text.startsWith('/')) return text
  throw wrong(`${key} is an absolute path, such as "/home/me/project"`)
}

type Keys = ReturnType<typeof keysOf>
const isTable = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const fail = (error: Error): never => {
  throw error
}

/** The keys of a table, each taken once; `done` names those that are left. */
function keysOf(table: unknown, where: string, wrong: Fault) {
  if (!isTable(table)) throw wrong(`${where} is a table: [${where}]`)
  const left = new Map(Object.entries(table))
  const take = <T>(key: string, isRight: (value: unknown) => value is T, like: string): T | null => {
    const value = left.get(key)
    left.delete(key)
    if (value === undefined) return null
    if (isRight(value)) return value
    throw wrong(`${where}.${key} is ${like}`)
  }
  const isCount =
    (least: number) =>
    (value: unknown): value is number =>
      Number.isInteger(value) && (value as number) >= least && (value as number) <= MOST
  return {
    text: (key: string) => take(key, isText, 'a text'),
    yes: (key: string) => take(key, (value): value is boolean => typeof value === 'boolean', 'true or false'),
    words: (key: string) =>
      take(key, (value): value is string[] => Array.isArray(value) && value.length > 0 && value.every(isText), 'a list of words, such as ["claude"]'),
    count: (key: string, least: number) => take(key, isCount(least), `a number from ${least} to ${MOST}`),
    counts: (key: string) =>
      take(
        key,
        (value): value is Record<string, number> => isTable(value) && Object.values(value).every(isCount(1)),
        'a table of numbers, such as { "size=large" = 1 }',
      ),
    texts: (key: string) =>
      take(key, (value): value is Record<string, string> => isTable(value) && Object.values(value).every(isText), 'a table of texts'),
    oneOf: <T extends string>(key: string, known: readonly T[]) =>
      take(key, (value): value is T => known.some((one) => one === value), `one of ${known.map((one) => JSON.stringify(one)).join(', ')}`),
    done: () => {
      if (left.size > 0) throw wrong(`unknown key ${[...left.keys()].map((key) => JSON.stringify(`${where}.${key}`)).join(', ')}`)
    },
  }
}
