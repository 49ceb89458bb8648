import { expect, test } from 'vitest'
import { endedShown, endedShownText, type SessionView } from '../../src/show/index.ts'
import { ended, NOW, running, session } from '../decide/build.ts'

const view = (id: string, run: SessionView['run'], liveness: SessionView['liveness'] = 'dead'): SessionView => ({
  session: session({ id }),
  run,
  liveness,
  pid: null,
  note: null,
  tasks: [],
})
const ids = (sights: readonly SessionView[]): string[] => sights.map((one) => one.session.id)
const over = (id: string, ago: number): SessionView => view(id, ended({ endedAt: NOW - ago }))
const NEVER = { state: 'failed', epoch: 1, exit: { code: 127, signal: null }, reason: 'could not start x: not found (ENOENT)' } as const

test('people see the newest ended sessions, and how many more there are', () => {
  const shown = endedShown([over('old', 9000), over('older', 10_000), view('live', running(), 'alive'), over('new', 1000)], 1)
  expect(ids(shown.sights)).toEqual(['live', 'new'])
  expect(endedShownText(shown, 1)).toEqual(['2 more ended sessions: holdfast ls --all -n 3'])
  expect(endedShownText(endedShown([over('old', 9000)], 1), 1)).toEqual([])
})

test('a session that never started is counted and not shown', () => {
  const shown = endedShown([view('mistyped', ended(NEVER)), view('gate', ended({ ...NEVER, exit: null, reason: 'x' })), over('a', 1)], 20)
  expect(ids(shown.sights)).toEqual(['a'])
  expect(endedShownText(shown, 20)).toEqual(['2 sessions never started: holdfast ls --all --json'])
})

test('a session whose agent ran is shown, whatever became of it', () => {
  const shown = [
    view('second', ended({ ...NEVER, epoch: 2 })),
    view('failed', ended({ state: 'failed', epoch: 1, reason: 'exit code 127', exit: { code: 127, signal: null } })),
    view('lost', ended({ state: 'lost', epoch: 1, exit: null })),
    view('alive', ended(NEVER), 'unknown'),
  ]
  expect(endedShown(shown, 20).sights).toEqual(shown)
})
