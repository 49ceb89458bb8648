import { seeWithoutStore, type World } from '../app/index.ts'
import { Problem } from '../model/index.ts'
import type { SessionView } from '../show/index.ts'
import { sayProblem } from './out.ts'

/** Without a usable store the run directories give a degraded answer, and the caller is told. */
export async function orWithoutStore(
  world: World,
  onTrouble: () => void,
  look: () => Promise<SessionView[]>,
  wanted: (sight: SessionView) => boolean = () => true,
): Promise<SessionView[]> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'unavailable') throw error
    sayProblem(error)
    onTrouble()
    return (await seeWithoutStore(world)).filter(wanted)
  }
}
