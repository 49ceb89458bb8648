import { elsewhere, versionTrouble } from '../../decide/index.ts'
import { type Namespaces, type PaneTrouble, Problem } from '../../model/index.ts'
import type { World } from '../world/world.ts'

type Hosting = { readonly trouble: PaneTrouble } | { readonly trouble: null; readonly version: string }

/** Why nothing can be hosted in panes here, or the tmux that can. */
export async function hosting({ panes }: Pick<World, 'panes'>): Promise<Hosting> {
  const trouble = panes.trouble()
  if (trouble !== null) return { trouble }
  const version = await panes.version()
  if (version === null) return { trouble: { why: 'tmux does not say its version', hint: "see what 'tmux -V' says, or leave --tmux out" } }
  const why = versionTrouble(version)
  return why === null ? { trouble: null, version } : { trouble: { why, hint: 'install a newer tmux, or leave --tmux out' } }
}

/** Why no run can be hosted in a pane here. */
export async function unhosted(world: Pick<World, 'panes'>): Promise<Problem | null> {
  const { trouble } = await hosting(world)
  return trouble === null ? null : new Problem('tmux-unavailable', `a run cannot be hosted in tmux: ${trouble.why}`, { hint: trouble.hint })
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
