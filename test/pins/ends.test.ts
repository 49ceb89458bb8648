import { describe, test } from 'vitest'
import { memberJson, ownedTaskJson, sparedJson, startedTaskJson, stoppedJson, suspectJson } from '../../src/show/index.ts'
import { ended, member, row, running, stopping } from '../decide/build.ts'
import { pinned } from './matcher.ts'

const stopped = ended({ state: 'stopped' })

/** `stop --json` has one entry for each session, and so has `retired` of `run -d --json`. */
describe('stop --json pins', () => {
  test('a run that was ended', () => {
    const gone = [{ ...member(200), ports: [3000] }, member(201)]
    const spared = [{ row: row(300), why: 'it is a shared daemon' }]
    pinned(
      stoppedJson('s1', {
        kind: 'ended',
        run: stopped,
        ended: gone,
        spared,
        unrecorded: null,
        suspects: [{ row: row(301), pro: ['has the secret'], contra: ['nothing else'] }],
      }),
      {
        session: 's1',
        result: 'ended',
        state: 'stopped',
        run: 'r000000000001',
        ended: [
          { pid: 200, name: 'p200', proof: 'marker', ports: [3000] },
          { pid: 201, name: 'p201', proof: 'marker', ports: [] },
        ],
        spared: [{ pid: 300, name: 'p300', why: 'it is a shared daemon' }],
        survivors: [],
        suspects: [{ pid: 301, name: 'p301', uid: 1000, pro: ['has the secret'], contra: ['nothing else'] }],
        why: null,
      },
    )
  })
  test('a run with survivors', () => {
    const survivors = [{ pid: 9, name: 'sleep', why: 'it did not end' }]
    pinned(stoppedJson('s1', { kind: 'survivors', run: stopping(), survivors, ended: [] }), {
      session: 's1',
      result: 'survivors',
      state: 'stopping',
      run: 'r000000000001',
      ended: [],
      spared: [],
      survivors: [{ pid: 9, name: 'sleep', why: 'it did not end' }],
      suspects: [],
      why: null,
    })
  })
  const nothing = { session: 's1', run: 'r000000000001', ended: [], spared: [], survivors: [], suspects: [], why: null }
  test('a run that cannot be proven gone', () =>
    pinned(stoppedJson('s1', { kind: 'unknown', run: running(), why: 'EACCES' }), { ...nothing, result: 'unknown', state: 'running', why: 'EACCES' }))
  test('a run that is still alive', () =>
    pinned(stoppedJson('s1', { kind: 'alive', run: running() }), { ...nothing, result: 'alive', state: 'running' }))
  test('a run that was over before', () =>
    pinned(stoppedJson('s1', { kind: 'not-running', run: stopped }), { ...nothing, result: 'not-running', state: 'stopped' }))
  test('a session that never ran', () =>
    pinned(stoppedJson('s1', { kind: 'not-running', run: null }), { ...nothing, result: 'not-running', state: null, run: null }))
  test('a run around the caller', () =>
    pinned(stoppedJson('s1', { kind: 'handed-over', run: stopping(), pid: 5 }), { ...nothing, result: 'handed-over', state: 'stopping' }))
})

describe('task --json pins', () => {
  test('a task that was started', () => {
    const run = running({ session: 't1', parent: 'r000000000000', task: 'adopt' })
    pinned(startedTaskJson(run, 200), { session: 't1', run: 'r000000000001', epoch: 3, pid: 200, parent: 'r000000000000', onRetire: 'adopt' })
  })
  test('a task that is over', () => {
    const run = ended({ session: 't1', task: 'cancel', argv: ['npm', 'test'] })
    pinned(ownedTaskJson({ run, usage: { cpuMs: 5, whole: true }, parent: 's1' }), {
      session: 't1',
      run: 'r000000000001',
      state: 'completed',
      onRetire: 'cancel',
      argv: ['npm', 'test'],
      startedAt: '2026-01-02T10:57:55.000Z',
      endedAt: '2026-01-02T11:58:55.000Z',
      exit: { code: 0, signal: null },
      reason: 'exit code 0',
      usage: { cpuMs: 5, whole: true, tokens: null },
      parent: 's1',
    })
  })
})

describe('tree --json pins', () => {
  test('a member', () => {
    const told = { pid: 200, parent: 1, group: 200, session: 50, uid: 1000, state: 'S', name: 'p200', proof: 'marker', ports: [] }
    pinned(memberJson(member(200)), told)
  })
  test('a suspect', () => {
    const suspect = { row: row(300), pro: ['same directory'], contra: ['older'] }
    pinned(suspectJson(suspect), { pid: 300, name: 'p300', uid: 1000, pro: ['same directory'], contra: ['older'] })
  })
  test('a process that is left alone', () => pinned(sparedJson({ row: row(300), why: 'w' }), { pid: 300, name: 'p300', why: 'w' }))
})
