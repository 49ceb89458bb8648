import { expect } from 'vitest'
import { daemonStatus, daemonsOf, started } from '../real/daemon-lab.ts'
import { inLab, TEST_COMMAND } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

verifies('visible', 'killed at any durable step of its own it leaves nothing that the next start does not repair', () =>
  inLab(async (lab) => {
    for (const step of ['make', 'writeRecord', 'removeRecord', 'clear', 'writeHealth', 'tell', 'isLog'])
      for (const when of ['before', 'after']) {
        const env = { HOLDFAST_FAILPOINTS: `${when}:daemon.${step}=kill` }
        await lab.hf(['daemon', 'start'], { env, command: TEST_COMMAND })
        await lab.hf(['daemon', 'stop'], { command: TEST_COMMAND })
        const pid = await started(lab)
        expect(daemonsOf(lab), `${when} ${step}`).toEqual([pid])
        expect(await daemonStatus(lab), `${when} ${step}`).toMatchObject({ pid, healthy: true })
        await lab.ok(['daemon', 'stop'])
      }
  }),
)
