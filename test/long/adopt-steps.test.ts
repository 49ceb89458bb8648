import { resolve } from 'node:path'
import { expect } from 'vitest'
import { amongTheLiving, settled, startVictims, strike, type Victims } from '../real/adopt.ts'
import { startDaemon } from '../real/daemon-hand.ts'
import { inLab } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

const CRASH = resolve('test/fixtures/crashat.cjs')
const LIVE = 100
const MAX_STEPS = 300
/** Most steps only open the store: a prime, so that every kind of step is met over the rounds. */
const STRIDE = 7

/** Finer than the steps of the ports: each file operation, and each statement of the store, committed or not. */
verifies('evidence', 'a daemon that is killed at any file operation or statement, among 100 live runs, loses nothing', () =>
  inLab((lab) =>
    amongTheLiving(lab, LIVE, async () => {
      let index = 0
      let next: Promise<Victims> = startVictims(lab, index)
      for (let step = 1, reached = true; reached && step < MAX_STEPS; step += STRIDE) {
        const victims = await next
        next = startVictims(lab, ++index)
        await strike(lab, victims)
        const dying = startDaemon(lab, { env: { NODE_OPTIONS: `--require ${CRASH}`, CRASH_AT: String(step), CRASH_AFTER: String(step % 2) } })
        const moment = (): Promise<false> => new Promise((over) => setTimeout(() => over(false), 1000))
        reached = await Promise.race([dying.exited.then(() => true), settled(lab, victims).then(moment, moment)])
        if (!reached) await dying.kill()
        const after = startDaemon(lab)
        await settled(lab, victims)
        await after.kill()
      }
      expect(index).toBeGreaterThan(5)
      const last = await next
      await strike(lab, last)
      const after = startDaemon(lab)
      await settled(lab, last)
      await after.kill()
      return index + 1
    }),
  ),
)
