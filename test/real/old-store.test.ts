import { copyFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { AGENT, inLab, isAlive, type Lab } from './lab.ts'

/** The store as it is now, which nobody has open. */
function backUp(lab: Lab): () => void {
  const copy = join(lab.agentDir, 'backup.db')
  copyFileSync(join(lab.home, 'holdfast.db'), copy)
  return () => {
    for (const name of readdirSync(lab.home)) if (name.startsWith('holdfast.db')) rmSync(join(lab.home, name))
    copyFileSync(copy, join(lab.home, 'holdfast.db'))
  }
}

verifies('one-owner', 'a store that is older than a live run sees it again, in every verb', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 'old', '--dir', lab.dir, '--', 'true'])
    const restore = backUp(lab)
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid } = await lab.status('s')
    const verbs: [readonly string[], (out: string, code: number | null) => void][] = [
      [['ls'], (out) => expect(out).toMatch(new RegExp(`^s +running +${pid}`, 'm'))],
      [['lock', '--check', lab.dir], (out, code) => expect([code, out]).toEqual([75, expect.stringMatching(/^held/)])],
      [['run', '--session', 's', '--dir', lab.newDir(), '--detach', '--', AGENT, 'idle'], (_, code) => expect(code).toBe(75)],
      [lab.detached('t', AGENT, 'idle'), (_, code) => expect(code).toBe(75)],
      [['status', 's', '--json'], (out) => expect(JSON.parse(out)).toMatchObject({ state: 'running', epoch: 1, pid })],
      [['siblings', '--json'], (out) => expect(out).toContain('"s"')],
      [['reconcile'], (_, code) => expect(code).toBe(0)],
      [['stop', 's'], (out, code) => expect([code, out]).toEqual([0, expect.stringMatching(/s stopped/)])],
    ]
    for (const [verb, check] of verbs) {
      restore()
      const { stdout, code } = await lab.hf(verb)
      check(stdout, code)
    }
    expect(isAlive(pid)).toBe(false)
  }),
)
