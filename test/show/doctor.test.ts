import { describe, expect, test } from 'vitest'
import { type Finding, findingsText, painter } from '../../src/show/index.ts'

const bare = painter(false)
const finding = (level: Finding['level'], topic: string, what = 'something is so', next: string | null = null): Finding => ({
  level,
  topic,
  what,
  next,
})
const WELL = ['agents', 'hooks', 'config', 'containment', 'marker', 'sight', 'daemon', 'tmux', 'notifications', 'anchors'].map((topic) =>
  finding('fine', topic, 'it is well', 'a step that is not needed'),
)
const note = (number: number): Finding => finding('note', 'anchors', `number ${number} is stale`, 'holdfast doctor --fix removes it')
const notes = (count: number): Finding[] => Array.from({ length: count }, (_, index) => note(index))
const page = (columns: number) => ({ columns, home: '/home/ann' })

describe('doctor', () => {
  test('of what is well, only the five things that a person wants to know', () =>
    expect(findingsText(WELL, bare)).toEqual([
      'fine    agents: it is well',
      'fine    hooks: it is well',
      'fine    config: it is well',
      'fine    containment: it is well',
      'fine    daemon: it is well',
      'all is well',
    ]))
  test.each([0, 1, 2, 3, 40])('with %i notes and no trouble there are ten lines at most, and the rest is counted', (count) => {
    const lines = findingsText([...WELL, ...notes(count)], bare, page(80))
    expect(lines.length).toBeLessThanOrEqual(10)
    if (count > 2) expect(lines).toContain(`        ${count - 2} more ${count === 3 ? 'note' : 'notes'}: holdfast doctor --verbose`)
  })
  test('trouble comes first, and all of it', () => {
    const trouble = Array.from({ length: 20 }, (_, index) => finding('trouble', `s${index}`, 'it survives', `holdfast stop s${index}`))
    const lines = findingsText([...WELL, ...notes(9), ...trouble], bare)
    expect(lines.slice(0, 2)).toEqual(['trouble s0: it survives', '        holdfast stop s0'])
    expect(lines.filter((line) => line.startsWith('trouble'))).toHaveLength(20)
    expect(lines.indexOf('note    anchors: number 0 is stale')).toBe(40)
    expect(lines).not.toContain('all is well')
  })
  test('on demand everything is told, with its next step', () => {
    const lines = findingsText([...WELL, ...notes(9)], bare, page(80), true)
    expect(lines.filter((line) => line === '        a step that is not needed')).toHaveLength(WELL.length)
    expect(lines.filter((line) => line.startsWith('note'))).toHaveLength(9)
  })
  test('a line fits the page, and the home folder is ~', () => {
    const long = finding('trouble', 'config', `/home/ann/.config/x ${'is wrong and '.repeat(20)}`, `mend ${'it '.repeat(60)}`)
    const lines = findingsText([long], bare, page(80))
    expect(lines[0]).toMatch(/^trouble config: ~\/\.config\/x is wrong/)
    for (const line of lines) expect(line.trimEnd().length).toBeLessThanOrEqual(80)
    for (const line of lines.slice(1)) expect(line).toMatch(/^ {8}\S/)
  })
})
