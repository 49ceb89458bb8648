import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../model/index.ts'

export const realClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms) => sleep(ms) as Promise<void>,
  random: () => Math.random(),
}
