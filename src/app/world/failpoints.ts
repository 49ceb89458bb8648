import { writeSync } from 'node:fs'

/** Replaced at build time: release bundles have no failpoints at all. */
declare const HOLDFAST_FAILPOINTS_BUILT: boolean
const BUILT = typeof HOLDFAST_FAILPOINTS_BUILT !== 'undefined' && HOLDFAST_FAILPOINTS_BUILT

/**
 * In test builds every method of a port is a named failpoint: `before:store.claims.claim`, `after:keepers.spawn`…
 * HOLDFAST_FAILPOINTS="before:store.claims.recordEnded=throw,after:store.claims.claim=kill,after:keepers.spawn=delay:500".
 */
export function withFailpoints<T extends object>(name: string, port: T): T {
  if (!BUILT) return port
  const plan = parse(process.env['HOLDFAST_FAILPOINTS'] ?? '')
  if (plan.size === 0) return port
  return new Proxy(port, {
    get(target, key) {
      const value = Reflect.get(target, key) as unknown
      // A port may be a group of ports.
      if (isGroup(value)) return withFailpoints(`${name}.${String(key)}`, value)
      if (typeof value !== 'function') return value
      const point = `${name}.${String(key)}`
      return (...args: unknown[]): unknown => {
        hit(plan.get(`before:${point}`), point)
        const result = (value as (...args: unknown[]) => unknown).apply(target, args)
        if (result instanceof Promise) {
          return result.then((answer) => {
            hit(plan.get(`after:${point}`), point)
            return answer as unknown
          })
        }
        hit(plan.get(`after:${point}`), point)
        return result
      }
    },
  })
}

/** The same for each port of a group, by its own name. */
export const eachWithFailpoints = <T extends Readonly<Record<string, object>>>(ports: T): T =>
  BUILT ? (Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, withFailpoints(name, port)])) as T) : ports

const isGroup = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.values(value).some((one) => typeof one === 'function')

type Action = { kind: 'say' } | { kind: 'kill' } | { kind: 'throw' } | { kind: 'delay'; ms: number } | { kind: 'stop' }

function hit(action: Action | undefined, point: string): void {
  if (action === undefined) return
  if (action.kind === 'say') writeSync(2, `failpoint ${point}\n`)
  if (action.kind === 'kill') process.kill(process.pid, 'SIGKILL')
  if (action.kind === 'stop') process.kill(process.pid, 'SIGSTOP')
  if (action.kind === 'throw') throw Object.assign(new Error(`failpoint ${point}`), { errcode: 5 })
  if (action.kind === 'delay') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, action.ms)
}

function parse(text: string): Map<string, Action> {
  const plan = new Map<string, Action>()
  for (const entry of text.split(',').filter(Boolean)) {
    const [point = '', what = ''] = entry.split('=')
    const [kind, argument] = what.split(':')
    if (kind === 'delay') plan.set(point, { kind, ms: Number(argument) })
    else if (kind === 'say' || kind === 'kill' || kind === 'throw' || kind === 'stop') plan.set(point, { kind })
    else throw new Error(`unknown failpoint action: ${entry}`)
  }
  return plan
}
