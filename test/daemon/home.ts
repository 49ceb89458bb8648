import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openWorld, type World } from '../../src/app/index.ts'
import type { LiveRun, RunBase } from '../../src/model/index.ts'
import { aClaim, aRun, keeper } from '../record/examples.ts'

/** A world with a store of its own, and a clock that is set by hand: so much after START. */
export const START = 1_800_000_000_000

export type TestHome = { readonly world: World; elapsed: number; done(): void }

export function openTestHome(): TestHome {
  const home = mkdtempSync(join(tmpdir(), 'hf-home-'))
  const real = openWorld({ assets: 'dist', home })
  const clock = { ...real.clock, now: () => START + test.elapsed, elapsed: () => test.elapsed }
  const test: TestHome = {
    world: { ...real, clock },
    elapsed: 0,
    done() {
      real.close()
      rmSync(home, { recursive: true })
    },
  }
  return test
}

/** On record as running; of its processes there is nothing. */
export async function aRunningOne({ store }: World, session: string, harness: string | null, more: Partial<RunBase> = {}): Promise<LiveRun> {
  const writer = await store('writer')
  const run = aRun(session, 1, { tmux: null, ...more })
  expect((await writer.claims.claim(aClaim(run, { harness }))).kind).toBe('won')
  expect(await writer.claims.recordRunning(run, keeper, START)).toBe(true)
  return (await writer.runs.get(run.id)) as LiveRun
}
