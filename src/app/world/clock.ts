import type { Clock } from '../../model/index.ts'

export const realClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  // (Loading node:timers/promises takes some milliseconds, and every hook would pay them.)
  sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
  random: () => Math.random(),
}
