import { expect, test } from 'vitest'
import { boardText, painter } from '../../src/show/index.ts'
import { NOW } from '../decide/build.ts'
import { aRequest } from '../decide/work.ts'

const view = aRequest({
  state: 'blocked',
  reason: 'no-result',
  summary:
    'the agent ended without a result (exit code 3); uncommitted in /home/ann/.local/state/holdfast/worktrees/repo: half; go on: holdfast work retry waaaaa',
  endedAt: NOW,
  dueAt: null,
})
const board = (columns: number | null): string[] =>
  boardText([{ request: view, column: 'needs-you', followedBy: null, feedback: [] } as never], 0, NOW, painter(false), { columns, home: '/home/ann' })

test.each([60, 80, 120, 200])('a board fits %i columns and breaks no word', (columns) => {
  const lines = board(columns)
  const longest = Math.max(columns, ...lines.flatMap((line) => line.split(' ').map((word) => word.length + 4)))
  expect(lines.filter((line) => line.length > longest)).toEqual([])
  expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toContain(
    'uncommitted in ~/.local/state/holdfast/worktrees/repo: half; go on: holdfast work retry waaaaa',
  )
})

test('in a pipe a request is a single line', () => {
  expect(board(null)).toHaveLength(2)
})
