import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { COMMAND, collect, findings, gone, inLab, type Lab, readOr } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

/** The file `install` of the home is an agent's to replace, as all files of its user are. Runs know what stood in it. */
const THINGS: readonly (readonly [what: string, put: (path: string) => void])[] = [
  ['a FIFO', (path) => void execFileSync('mkfifo', [path])],
  ['a symbolic link', (path) => symlinkSync(path, path)],
  ['holds no id', (path) => writeFileSync(path, '../../../tmp/x\n')],
]
const BOUND = { timeoutMs: 60_000 }

verifies('stop-proof', 'whatever lies in the place of the home’s id, every agent is seen, and ends with its stop', () =>
  inLab(async (lab) => {
    const install = join(lab.home, 'install')
    for (const [what, put] of THINGS) {
      await lab.ok(lab.detached('s', 'sleep', '1000'))
      const { pid } = await lab.status('s')
      renameSync(install, `${install}.kept`)
      put(install)
      expect((await lab.hf(['ls'], BOUND)).stdout, what).toMatch(/^s /m)
      expect(await findings(lab, BOUND), what).toContainEqual(
        expect.objectContaining({ topic: 'home', level: 'trouble', what: expect.stringContaining(what) }),
      )
      const stop = await lab.hf(['stop', 's', '--grace', '1s'], BOUND)
      expect([what, stop.code, stop.stdout], stop.stderr).toEqual([what, 0, expect.stringMatching(/^s stopped: .*seen gone/)])
      await gone(pid)
      rmSync(install, { recursive: true })
      renameSync(`${install}.kept`, install)
    }
  }),
)

verifies('unknown', 'a home without its id is the same home as before, since its runs know it', () =>
  inLab(async (lab) => {
    const install = join(lab.home, 'install')
    await lab.ok(lab.detached('s', 'sleep', '1000'))
    const before = readOr(install)
    rmSync(install)
    await lab.ok(['ls'])
    expect(readOr(install)).toBe(before)
  }),
)

test('an agent that replaces the id and its own record ends all the same, and a home without runs is refused', () =>
  inLab(async (lab) => {
    const install = join(lab.home, 'install')
    await lab.ok(lab.detached('s', 'sleep', '1000'))
    const { pid } = await lab.status('s')
    const before = readOr(install)
    const [run = ''] = readdirSync(join(lab.home, 'runs'))
    for (const path of [install, join(lab.home, 'runs', run, 'run.json')]) {
      rmSync(path)
      execFileSync('mkfifo', [path])
    }
    const stop = await lab.hf(['stop', 's', '--grace', '1s'], BOUND)
    expect([stop.code, stop.stdout], stop.stderr).toEqual([0, expect.stringMatching(/^s stopped: .*seen gone/)])
    await gone(pid)
    rmSync(join(lab.home, 'runs'), { recursive: true })
    expect(await lab.refused(['ls'], BOUND)).toMatchObject({ id: 'home-unusable', message: expect.stringContaining('it is a FIFO') as string })
    rmSync(install)
    writeFileSync(install, before)
  }))

/** Root may enter any folder: here it gives that up. */
const asAnybody = (lab: Lab, ...args: string[]) =>
  process.getuid?.() === 0
    ? collect(lab.start(['--bounding-set=-dac_override,-dac_read_search', '--', COMMAND, ...args], { command: 'setpriv' }), BOUND)
    : lab.hf(args, BOUND)

verifies('stop-proof', 'an agent that shuts a folder of its home, or puts something else in its place, ends with its stop', () =>
  inLab(async (lab) => {
    const runs = join(lab.home, 'runs')
    const kept = join(lab.newDir(), 'runs')
    const ways: readonly (readonly [what: string, shut: (run: string) => void])[] = [
      ['its run directory', (run) => chmodSync(join(runs, run), 0)],
      ['all run directories', () => chmodSync(runs, 0)],
      ['the home', () => chmodSync(lab.home, 0)],
      [
        'a FIFO',
        () => {
          renameSync(runs, kept)
          execFileSync('mkfifo', [runs])
        },
      ],
    ]
    for (const [what, shut] of ways) {
      await lab.ok(lab.detached('s', 'sleep', '1000'))
      const { pid } = await lab.status('s')
      shut(String(((await lab.status('s')) as unknown as { run: string }).run))
      expect((await asAnybody(lab, 'ls')).stdout, what).toMatch(/^s /m)
      const stop = await asAnybody(lab, 'stop', 's', '--grace', '1s')
      expect([what, stop.code, stop.stdout], stop.stderr).toEqual([what, 0, expect.stringMatching(/^s stopped: .*seen gone/)])
      await gone(pid)
    }
    expect(readdirSync(lab.home).filter((name) => name.startsWith('runs.aside-'))).toHaveLength(1)
    rmSync(runs, { recursive: true })
    renameSync(kept, runs)
  }),
)
