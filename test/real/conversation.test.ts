import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { inLab, isAlive, type Lab, readOr, startOf, until } from './lab.ts'
import { obedient } from './obedient.ts'

/** Nobody else's, since all processes of the machine are looked at. */
const [X, Y, Z] = [randomUUID(), randomUUID(), randomUUID()]

/** What a harness writes about a process of its own, and a conversation as it lies on disk. */
function anchors(lab: Lab) {
  const config = join(lab.agentDir, 'config')
  const projects = join(config, 'projects', '-w')
  mkdirSync(projects, { recursive: true })
  for (const id of [X, Y, Z]) writeFileSync(join(projects, `${id}.jsonl`), `${JSON.stringify({ type: 'user', sessionId: id, cwd: lab.dir })}\n`)
  return (pid: number, procStart: string, sessionId: string): void =>
    writeFileSync(join(config, 'sessions', `${pid}.json`), JSON.stringify({ pid, procStart, sessionId, cwd: lab.dir, kind: 'interactive' }))
}

const sessionsIn = (json: string): string[] => (JSON.parse(json) as { session: string }[]).map(({ session }) => session)

verifies(
  'self',
  "a dead session's anchor is not believed of the process that has its pid now; and what was taken for another is itself from its first hook on, everywhere and for good",
  () =>
    inLab(async (lab) => {
      const agent = obedient(lab)
      const anchor = anchors(lab)
      // Whoever looks at a session asks its harness, too.
      await agent.begin('other', lab.dir)
      const { pid } = await lab.status('other')
      anchor(pid, String(Number(startOf(pid)) - 1), X)
      expect(await lab.status('other')).toMatchObject({ session: 'other', nativeId: null })
      anchor(pid, startOf(pid), Z)
      expect(await lab.status('other')).toMatchObject({ session: 'other', nativeId: Z })

      await agent.begin(X, lab.dir, '--session-id', X)
      const { run, keeper, ...before } = (await lab.status(X)) as unknown as { run: string; keeper: number }
      expect(before).toMatchObject({ session: X, nativeId: X })
      await lab.ok(['message', X, 'hello'])
      expect(await agent.hook(X, 'session-start', Y)).toBe('')

      /** Whoever lists it, on record and on disk: once, and as itself. */
      const isItself = async (when: string): Promise<void> => {
        expect(sessionsIn(await lab.ok(['ls', '--all', '--json'])).toSorted(), when).toEqual([Y, 'other'])
        expect([...new Set(sessionsIn(await lab.ok(['events', '--json'])))].toSorted(), when).toEqual([Y, 'other'])
        expect(JSON.parse(readOr(join(lab.home, 'runs', run, 'run.json'))), when).toMatchObject({ session: Y, former: [X] })
        expect(await lab.status(X), when).toMatchObject({ session: Y, run, nativeId: Y })
      }
      await isItself('at once')
      // What its harness had written before the hook is no way back.
      const own = await lab.status(Y)
      anchor(own.pid, startOf(own.pid), X)
      await isItself('with an anchor of before')
      expect(sessionsIn(await lab.ok(['siblings', '--session', 'other', '--json']))).toEqual([Y])
      const locks = sessionsIn(await lab.ok(['locks', '--json']))
      expect([locks.includes(X), locks.includes(Y)]).toEqual([false, true])
      // From inside, where the environment still says X.
      expect(JSON.parse(await agent.inside(X, 'whoami', '--json'))).toMatchObject({ session: Y, run, nativeId: Y })
      expect(sessionsIn(await agent.inside(X, 'siblings', '--json'))).toEqual(['other'])
      expect(await agent.inside(X, 'inbox')).toContain('hello')

      // Its keeper was started for X: what it has recorded is of Y all the same.
      writeFileSync(join(lab.agentDir, `obey.${X}`), 'exit 3\n')
      await until('its keeper to leave', () => !isAlive(keeper))
      await lab.ok(['reconcile'])
      await isItself('after its end')
      expect(sessionsIn(await lab.ok(['siblings', '--session', 'other', '--json']))).toEqual([])
      for (const file of readdirSync(lab.home).filter((name) => name.startsWith('holdfast.db'))) rmSync(join(lab.home, file))
      expect(sessionsIn(await lab.ok(['ls', '--all', '--json'])).toSorted(), 'from the run directories').toEqual([Y, 'other'])
    }),
)
