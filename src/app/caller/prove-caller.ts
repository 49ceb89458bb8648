import type { Run } from '../../model/index.ts'
import type { Front } from '../world/front.ts'
import type { World } from '../world/world.ts'
import { ancestorsOf, lineageOf, provenFront } from './caller.ts'
import { runAround } from './who-am-i.ts'

/** The caller of a command, proven once and handed on. */
export type Caller = {
  /** The shell that waits to become the keeper. */
  readonly front: Front | null
  /** The secrets of the runs around the command, outermost first. */
  readonly lineage: readonly string[]
  /** The run that the command was started in. */
  readonly parent: Run | null
  /** The ids of the runs around the command, nearest first. */
  readonly ancestors: readonly string[]
}

export async function proveCaller(world: World): Promise<Caller> {
  const front = await provenFront(world)
  const parent = await runAround(world, 'writer', front)
  return { front, lineage: lineageOf(world, front), parent, ancestors: await ancestorsOf(world, parent) }
}
