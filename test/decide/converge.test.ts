import { describe, expect, test } from 'vitest'
import type { Step, Verdict } from '../../src/decide/index.ts'
import { converge } from '../../src/decide/index.ts'
import type { LiveRun } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { intent, member, NOW, running, starting, stopping } from './build.ts'

const ending = { state: 'lost', exit: null, reason: 'gone', evidence: [], by: 'reconcile' } as const
const exit = { code: 3, signal: null }
const aliveNow: Verdict = { kind: 'alive' }
const startingNow: Verdict = { kind: 'starting', why: 'its launcher is at work' }
const settling: Verdict = { kind: 'settling', why: 'its keeper is writing' }
const leftovers: Verdict = { kind: 'leftovers', members: [member(300)], exit }
const over: Verdict = { kind: 'over', ending }
const unknown: Verdict = { kind: 'unknown', why: 'EACCES' }

const asked = stopping({ intent })
// It has run for a second, whatever the wall clock says.
const RAN = 1000
const startedAt = NOW - 5
const late = running({ startedAt, deadlineAt: startedAt + RAN })
const early = running({ startedAt: NOW - 3_600_000, deadlineAt: NOW - 3_600_000 + RAN + 1 })
const keep = (why: string): Step => ({ kind: 'keep', why })
const end = (why: Extract<Step, { kind: 'end-tree' }>['why']): Step => ({ kind: 'end-tree', why })
const ends: Step = { kind: 'record-end', ending }
const exits: Step = { kind: 'record-exit', exit }

/** The last two columns: what one does who may signal, and what one who only reads. */
type Case = readonly [what: string, run: LiveRun, verdict: Verdict, parentEnded: boolean, mayingSignal: Step, reading: Step]
const cases: readonly Case[] = [
  ['alive', running(), aliveNow, false, keep('alive'), keep('alive')],
  ['alive, asked to end', asked, aliveNow, false, end('asked'), keep('alive')],
  ['alive, its parent ended', running(), aliveNow, true, end('orphaned'), keep('alive')],
  ['alive, its time is over', late, aliveNow, false, end('timeout'), keep('alive')],
  ['alive, its time is not over', early, aliveNow, false, keep('alive'), keep('alive')],
  ['alive, asked and orphaned: the first reason stands', asked, aliveNow, true, end('asked'), keep('alive')],
  ['alive, orphaned and late: it is an orphan', late, aliveNow, true, end('orphaned'), keep('alive')],
  ['alive, stopping though nobody asked', stopping(), aliveNow, false, keep('alive'), keep('alive')],
  ['starting', starting(), startingNow, false, keep('starting'), keep('starting')],
  ['starting, asked to end', stopping({ intent, keeper: null }), startingNow, false, end('asked'), keep('starting')],
  ['starting, its parent ended', starting(), startingNow, true, end('orphaned'), keep('starting')],
  ['starting, its time is over', starting({ startedAt, deadlineAt: startedAt + RAN }), startingNow, false, end('timeout'), keep('starting')],
  ['leftovers', running(), leftovers, false, end('leftovers'), exits],
  ['leftovers, on record already', stopping({ exit }), leftovers, false, end('leftovers'), keep('its leftovers are being ended')],
  ['leftovers, asked to end', asked, leftovers, false, end('leftovers'), keep('its leftovers are being ended')],
  ['settling', running(), settling, false, keep('its keeper is writing'), keep('its keeper is writing')],
  ['settling, late and orphaned', late, settling, true, keep('its keeper is writing'), keep('its keeper is writing')],
  ['over', running(), over, false, ends, ends],
  ['over, asked to end', asked, over, false, ends, ends],
  ['unknown', running(), unknown, false, keep('EACCES'), keep('EACCES')],
  ['unknown, asked to end', asked, unknown, false, keep('EACCES'), keep('EACCES')],
  ['unknown, late and orphaned', late, unknown, true, keep('EACCES'), keep('EACCES')],
]
describe('converge', () => {
  for (const [what, run, verdict, parentEnded, mayingSignal, reading] of cases) {
    test(what, () => {
      expect(converge(run, verdict, { ranMs: RAN, maySignal: true, parentEnded })).toEqual(mayingSignal)
      expect(converge(run, verdict, { ranMs: RAN, maySignal: false, parentEnded })).toEqual(reading)
    })
  }
})

verifies('unknown', 'neither time, nor a parent, nor an intent ends what cannot be seen', () => {
  const about = { ranMs: RAN, maySignal: true, parentEnded: true }
  expect(converge(stopping({ intent, startedAt, deadlineAt: startedAt + 1 }), unknown, about)).toEqual(keep('EACCES'))
})
