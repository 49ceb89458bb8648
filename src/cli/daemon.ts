import type { World } from '../app/index.ts'
import { exitCode, Problem } from '../model/index.ts'
import type { Parsed } from './options.ts'
import { print, printJson } from './out.ts'

/** There is none yet: nothing that Holdfast promises needs one. What is not there is stopped, and cannot be started. */
export async function daemonVerb(_world: World, { words, flags }: Parsed): Promise<number> {
  const [what, ...more] = words
  const none = { pid: null, healthy: false, http: null, parts: [] }
  if (more.length === 0 && (what === 'stop' || what === 'status')) {
    if (flags.has('json')) printJson(none)
    else print(['no daemon runs'])
    return exitCode.done
  }
  if (more.length === 0 && (what === 'run' || what === 'start'))
    throw new Problem('unavailable', 'this Holdfast has no daemon', { hint: 'every verb works without one; holdfast reconcile converges now' })
  throw new Problem('usage', 'daemon takes run, start, stop or status')
}
