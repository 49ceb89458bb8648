import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { inLab, type Lab, until } from './lab.ts'

/** A program that writes its answers as Pi does, each for 20 cents, until it is ended. */
function fakePi(lab: Lab): NodeJS.ProcessEnv {
  const bin = lab.newDir()
  const sessions = join(lab.newDir(), 'sessions')
  mkdirSync(join(sessions, '-w'), { recursive: true })
  const usage = '{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"cost":{"total":0.2}}'
  const line = `{"type":"message","id":"'$$-$n'","timestamp":"'$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)'","message":{"role":"assistant","usage":${usage}}}`
  const script = `#!/bin/bash
while [ "$#" -gt 0 ]; do case $1 in --session-id|--session) id=$2;; esac; shift; done
n=0
while sleep 0.2; do n=$((n + 1)); echo '${line}' >>'${sessions}'/-w/2026_"$id".jsonl; done
`
  writeFileSync(join(bin, 'pi'), script)
  chmodSync(join(bin, 'pi'), 0o755)
  return { PATH: `${bin}:${process.env['PATH'] ?? ''}`, PI_CODING_AGENT_DIR: join(sessions, '..') }
}

verifies('bounded', 'a budget in dollars ends a run that has cost so much, also after a restart', () =>
  inLab(async (lab) => {
    const env = fakePi(lab)
    const spent = async (epoch: number): Promise<void> => {
      await until('its budget to be spent', async () => {
        const { state, epoch: now } = await lab.status('s')
        return state === 'stopped' && (now as unknown) === epoch
      })
      const ended = await lab.status('s')
      expect(ended).toMatchObject({ endedBy: 'budget', budget: null, budgetCost: 0.5 })
      expect(ended['reason']).toMatch(/^its budget was spent \(--budget\): \$\d+\.\d0 of \$0\.50$/)
    }
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--detach', '--budget', '$0.50', '--prompt', 'work', 'pi'], { env })
    await spent(1)
    await lab.ok(['restart', 's', '--prompt', 'more'], { env })
    await spent(2)
    expect(await lab.ok(['status', 's', '--verbose'])).toMatch(/budget +\$0\.50/)
  }),
)
