import { join } from 'node:path'
import type { World } from '../app/index.ts'
import { exitCode, Problem } from '../model/index.ts'
import type { Parsed } from './options.ts'
import { print, printJson } from './out.ts'

declare const HOLDFAST_VERSION: string
type Bundle = {
  runDaemon(options: {
    readonly assets: string
    readonly home: string
    readonly version: string
    readonly startedBy: 'run' | 'service'
  }): Promise<number>
}

/** There is none yet: nothing that Holdfast promises needs one. What is not there is stopped, and cannot be started. */
export async function daemonVerb(world: World, { words, flags, values }: Parsed): Promise<number> {
  const [what, ...more] = words
  const none = { pid: null, healthy: false, http: null, parts: [] }
  if (more.length === 0 && (what === 'stop' || what === 'status')) {
    if (flags.has('json')) printJson(none)
    else print(['no daemon runs'])
    return exitCode.done
  }
  if (more.length === 0 && what === 'run')
    return (require(join(world.assets, 'daemon.cjs')) as Bundle).runDaemon({
      assets: world.assets,
      home: world.home,
      version: HOLDFAST_VERSION,
      startedBy: values.get('by') === 'service' ? 'service' : 'run',
    })
  if (more.length === 0 && what === 'start')
    throw new Problem('unavailable', 'this Holdfast has no daemon', { hint: 'every verb works without one; holdfast reconcile converges now' })
  throw new Problem('usage', 'daemon takes run, start, stop or status')
}
