import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { AGENT, findings, gone, inLab, isAlive, type Lab, until } from '../real/lab.ts'
import { backUp } from '../real/old-store.ts'
import { verifies } from '../requirements.ts'

/** What may become of a record. */
const WAYS: Readonly<Record<string, (path: string) => void>> = {
  'is cut short': (path) => truncateSync(path, 40),
  'is of another format': (path) => writeFileSync(path, '{"format":2}'),
  'lacks most of it': (path) => writeFileSync(path, JSON.stringify({ format: 1, id: path.split('/').at(-2), session: 's', epoch: 1 })),
  'is a folder': (path) => replaced(path, () => mkdirSync(path)),
  'is a pipe': (path) => replaced(path, () => spawnSync('mkfifo', [path])),
  'is a link to nowhere': (path) => replaced(path, () => symlinkSync('/nowhere/at/all', path)),
}
function replaced(path: string, put: () => void): void {
  rmSync(path)
  put()
}

const begin = async (lab: Lab): Promise<{ run: string; path: string; pid: number; keeper: number }> => {
  await lab.ok(['run', '--session', 'old', '--dir', lab.newDir(), '--', 'true'])
  const restore = backUp(lab)
  const known = readdirSync(join(lab.home, 'runs'))
  await lab.ok(lab.detached('s', AGENT, 'idle'))
  const { pid, keeper } = await lab.unguarded('s')
  const run = readdirSync(join(lab.home, 'runs')).find((name) => !known.includes(name)) ?? ''
  restore()
  return { run, path: join(lab.home, 'runs', run), pid, keeper }
}

for (const [way, spoil] of Object.entries(WAYS))
  verifies('unknown', `a record that ${way}, of a run that no row has, is named and keeps starts waiting`, () =>
    inLab(async (lab) => {
      const { run, path, pid, keeper } = await begin(lab)
      spoil(join(path, 'run.json'))
      const elsewhere = lab.newDir()
      const start = (...more: string[]) => ['run', '--session', 't', '--dir', elsewhere, '--detach', ...more, '--', AGENT, 'idle']
      expect((await lab.hf(['ls'])).stderr).toContain(`${path}/run.json cannot be read`)
      expect(await findings(lab)).toContainEqual(expect.objectContaining({ topic: 'runs', level: 'trouble', what: expect.stringContaining(path) }))
      expect(await lab.hf(['lock', '--check', lab.dir])).toMatchObject({ code: 76, stdout: expect.stringContaining(path) })
      for (const args of [start(), start('--force'), ['lock', elsewhere], lab.detached('s', AGENT, 'idle')])
        expect(await lab.refused(args)).toMatchObject({ id: 'run-record-unreadable', code: 76, hint: expect.stringMatching(/^end pid \d+, then/) })
      expect(await lab.refused(['resolve', run, '--gone'])).toMatchObject({ id: 'session-not-gone', code: 75 })
      expect((await lab.hf(['stop', '--all'])).code).toBe(76)
      expect(await lab.ok(['prune'])).toContain(`${path}`)
      // Nobody writes down how it ended: then only a person can tell that it is over.
      for (const one of [keeper, pid]) process.kill(one, 'SIGKILL')
      await Promise.all([gone(keeper), gone(pid)])
      expect(await lab.refused(start())).toMatchObject({
        id: 'run-record-unreadable',
        hint: expect.stringContaining(`holdfast resolve ${run} --gone`),
      })
      expect(readdirSync(join(lab.home, 'runs'))).toContain(run)
      await lab.ok(['resolve', run, '--gone'])
      await lab.ok(start())
      expect((await lab.hf(['ls'])).stderr).toBe('')
      await lab.ok(['prune'])
      expect(readdirSync(join(lab.home, 'runs'))).not.toContain(run)
    }),
  )

verifies('unknown', 'a person overrides what is unknown with --force; an exit record settles it without anybody', () =>
  inLab(async (lab) => {
    const { run, path, pid, keeper } = await begin(lab)
    writeFileSync(join(path, 'run.json'), '')
    for (const one of [keeper, pid]) process.kill(one, 'SIGKILL')
    await Promise.all([gone(keeper), gone(pid)])
    const start = (...more: string[]) => ['run', '--session', 't', '--dir', lab.dir, ...more, '--', 'true']
    expect((await lab.hf(start())).code).toBe(76)
    await lab.ok(start('--force'))
    writeFileSync(join(path, 'exit'), '1   0 -   \n')
    await lab.ok(start())
    expect((await lab.hf(['ls'])).stderr).toBe('')
    expect(await lab.ok(['prune'])).toContain(run)
  }),
)

verifies('unknown', 'a record that is gone counts as such only if nothing of its run is alive', () =>
  inLab(async (lab) => {
    const { path, pid, keeper } = await begin(lab)
    rmSync(join(path, 'run.json'))
    // Only the environment of the agent still says whose it is.
    for (const name of ['keeper', 'pid', 'members', 'cgroup']) rmSync(join(path, name), { force: true })
    expect(await lab.refused(lab.detached('t', AGENT, 'idle'))).toMatchObject({ id: 'run-record-unreadable', code: 76 })
    for (const one of [keeper, pid]) process.kill(one, 'SIGKILL')
    await until('both to be gone', () => !isAlive(keeper) && !isAlive(pid))
    await lab.ok(lab.detached('t', AGENT, 'idle'))
  }),
)

verifies('unknown', 'a record that cannot be read does not matter as long as a row has the run', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid } = await lab.status('s')
    const [run = ''] = readdirSync(join(lab.home, 'runs'))
    writeFileSync(join(lab.home, 'runs', run, 'run.json'), '{')
    expect((await lab.hf(lab.detached('t', AGENT, 'idle'))).code).toBe(75)
    await lab.ok(['run', '--session', 't', '--dir', lab.newDir(), '--', 'true'])
    await lab.ok(['stop', 's'])
    expect(isAlive(pid)).toBe(false)
  }),
)

verifies('visible', 'without a usable store, a record that cannot be read is named, and stop --all does not call it done', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid, keeper } = await lab.status('s')
    const [run = ''] = readdirSync(join(lab.home, 'runs'))
    const path = join(lab.home, 'runs', run)
    writeFileSync(join(path, 'run.json'), '{')
    rmSync(join(lab.home, 'holdfast.db'))
    writeFileSync(join(lab.home, 'holdfast.db'), 'x'.repeat(5000))
    const listed = await lab.hf(['ls'])
    expect([listed.code, listed.stderr]).toEqual([69, expect.stringContaining(`${path}/run.json cannot be read`)])
    expect(await lab.hf(['stop', '--all'])).toMatchObject({ code: 76, stderr: expect.stringContaining(`end pid`) })
    for (const one of [keeper, pid]) process.kill(one, 'SIGKILL')
    await Promise.all([gone(keeper), gone(pid)])
  }),
)
