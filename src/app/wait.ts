import type { Ended, Run } from '../model/index.ts'
import { isLive, Problem } from '../model/index.ts'
import { seeOne } from './see.ts'
import type { World } from './world.ts'

/** Waits for the end of a session's run, however it comes. Null: the time was over first. */
export async function waitForEnd(world: World, reference: string, timeoutMs: number | null): Promise<Ended | null> {
  const until = timeoutMs === null ? Number.POSITIVE_INFINITY : world.clock.elapsed() + timeoutMs
  for (let delay = world.policy.pollMaxMs; ; delay = Math.min(delay * 2, world.policy.followMs * 5)) {
    const { run } = await seeOne(world, reference)
    if (!isLive(run)) return run
    if (world.clock.elapsed() >= until) return null
    await world.clock.sleep(Math.min(delay, Math.max(1, until - world.clock.elapsed())))
  }
}

/** The code a command would give: 128+n for a signal. No evidence, no code. */
export function codeOf(run: Run): number {
  if (isLive(run)) throw new Problem('bug', `run ${run.id} has not ended`)
  if (run.exit === null) return 1
  return run.exit.code ?? 128 + signalNumber(run.exit.signal)
}

const NUMBERS: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 }
const signalNumber = (name: string | null): number => NUMBERS[name ?? ''] ?? 0
