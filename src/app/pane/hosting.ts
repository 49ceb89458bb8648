import { elsewhere, versionTrouble } from '../../decide/index.ts'
import { type Namespaces, Problem } from '../../model/index.ts'
import type { World } from '../world/world.ts'

/** Why nothing can be hosted in panes here, or the tmux that can. */
export async function hosting({
  panes,
}: Pick<World, 'panes'>): Promise<{ readonly trouble: string } | { readonly trouble: null; readonly version: string }> {
  const trouble = panes.trouble()
  if (trouble !== null) return { trouble }
  const version = await panes.version()
  if (version === null) return { trouble: 'tmux does not say its version' }
  const old = versionTrouble(version)
  return old === null ? { trouble: null, version } : { trouble: old }
}

/** Why no run can be hosted in a pane here. */
export async function unhosted(world: Pick<World, 'panes'>): Promise<Problem | null> {
  const { trouble } = await hosting(world)
  return trouble === null
    ? null
    : new Problem('tmux-unavailable', `a run cannot be hosted in tmux: ${trouble}`, { hint: 'install tmux, or leave --tmux out' })
}

/** Namespaces cannot be given to a run that is hosted: it has those of its server. */
export function hostedElsewhere(namespaces: Namespaces): Problem | null {
  const where = elsewhere(namespaces)
  return where === null
    ? null
    : new Problem('tmux-server-elsewhere', `the tmux server of this home is in ${where}: a run would be there too`, {
        hint: 'start it where that server runs, or stop the sessions in its panes first (holdfast ls), or use another --home',
      })
}
