import { versionTrouble } from '../decide/index.ts'
import { Problem } from '../model/index.ts'
import type { World } from './world.ts'

/** Why nothing can be hosted in panes here, or the tmux that can. */
export async function hosting({ panes }: World): Promise<{ readonly trouble: string } | { readonly trouble: null; readonly version: string }> {
  const trouble = panes.trouble()
  if (trouble !== null) return { trouble }
  const version = await panes.version()
  if (version === null) return { trouble: 'tmux does not say its version' }
  const old = versionTrouble(version)
  return old === null ? { trouble: null, version } : { trouble: old }
}

/** What could not be hosted is refused before anybody is ended for it. */
export async function refuseUnhosted(world: World): Promise<void> {
  const { trouble } = await hosting(world)
  if (trouble !== null) throw new Problem('unavailable', `a run cannot be hosted in tmux: ${trouble}`, { hint: 'install tmux, or leave --tmux out' })
  await world.panes.refuseElsewhere()
}
