import { describe, expect, test } from 'vitest'
import { judgeService } from '../../src/decide/index.ts'
import type { HomesDaemon, UnitState } from '../../src/model/index.ts'

const daemon = (pid: number, startedBy: HomesDaemon['startedBy']): HomesDaemon => ({ process: { pid, ticks: 1 }, startedBy })
const unit = (more: Partial<UnitState>): UnitState => ({ enabled: true, active: false, state: 'inactive, dead', pid: null, trouble: null, ...more })
const runs = unit({ active: true, state: 'active, running', pid: 7 })

describe('one truth about what runs', () => {
  test.each([
    ['nothing anywhere', { file: 'absent', unit: unit({ enabled: false }), daemon: null }, 'nothing', null],
    ['no manager and nothing', { file: 'absent', unit: null, daemon: null }, 'nothing', null],
    ['the service’s own', { file: 'ours', unit: runs, daemon: daemon(7, 'service') }, 'service', null],
    ['by hand, and no service', { file: 'absent', unit: unit({ enabled: false }), daemon: daemon(8, 'start') }, 'by-hand', null],
    ['by hand, without a manager', { file: 'absent', unit: null, daemon: daemon(8, 'run') }, 'by-hand', null],
    [
      'by hand, beside a service that is idle',
      { file: 'ours', unit: unit({}), daemon: daemon(8, 'run') },
      'by-hand',
      /installed, but the daemon \(pid 8\) was started by hand/,
    ],
    ['two', { file: 'ours', unit: runs, daemon: daemon(8, 'run') }, 'by-hand', /holds the home is pid 8; the service runs pid 7 as well/],
    [
      'one that says what is not so',
      { file: 'ours', unit: unit({}), daemon: daemon(8, 'service') },
      'by-hand',
      /pid 8 says that a service started it/,
    ],
    ['one that cannot be checked', { file: 'ours', unit: null, daemon: daemon(8, 'service') }, 'unknown', null],
    ['the service without the home', { file: 'ours', unit: runs, daemon: null }, 'nothing', /pid 7\), but holds no home/],
    ['a service that failed', { file: 'ours', unit: unit({ trouble: 'exit-code' }), daemon: null }, 'nothing', /has failed: exit-code/],
    ['a service that was stopped', { file: 'ours', unit: unit({}), daemon: null }, 'nothing', /was stopped/],
    [
      'one that is started again after a pause',
      { file: 'ours', unit: unit({ active: true, state: 'activating, auto-restart' }), daemon: null },
      'nothing',
      /has failed, and is about to be started again/,
    ],
    ['one that is switched off', { file: 'ours', unit: unit({ enabled: false }), daemon: null }, 'nothing', /neither runs nor is started at login/],
    ['what cannot be told', { file: 'ours', unit: runs, daemon: 'another namespace' }, 'unknown', /another namespace/],
  ] as const)('%s', (_, facts, which, disagreement) => {
    const judged = judgeService(facts)
    expect(judged.runs).toBe(which)
    if (disagreement === null) expect(judged.disagreement).toBeNull()
    else expect(judged.disagreement).toMatch(disagreement)
  })
})
