import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { gone, isAlive, readOr, until } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-timer-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const node = join(folder, 'node')
writeFileSync(node, `#!/bin/sh\nprintf '%s\\n' "$*" >>'${folder}/calls'\n`, { mode: 0o755 })

/** What it has had Node do until its time was over. */
async function callsOf(runDirectory: string, seconds: number, path = process.env['PATH']): Promise<string[]> {
  writeFileSync(join(folder, 'calls'), '')
  const self = String(process.pid)
  const words = [runDirectory, String(seconds), 'budget', self, self, 'harness', node, 'cli', 'r1']
  const options = { stdio: 'ignore', timeout: 120_000, env: { PATH: path } } as const
  await new Promise((done) => spawn('sh', ['src/keep/scripts/timer.sh', ...words], options).once('exit', done))
  return readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n')
}

describe('the timer of a run', () => {
  verifies('bounded', 'whose directory is gone still ends it in time', async () => {
    expect(await callsOf(join(folder, 'gone'), 1)).toEqual(['cli _end r1 TIMEOUT'])
  })

  test('looks once more at what was written in the tick of its last look, and then no more', async () => {
    const written = join(folder, 'written')
    writeFileSync(join(folder, 'follow'), `${written}\n${join(folder, 'never-was')}\n`)
    for (const path of [written, join(folder, 'followed')]) {
      writeFileSync(path, '')
      utimesSync(path, 1_700_000_000, 1_700_000_000)
    }
    expect(await callsOf(folder, 3)).toEqual(['cli _follow r1 budget', 'cli _end r1 TIMEOUT'])
  })

  test.each(['SIGKILL', 'SIGTERM'] as const)('that is ended by %s leaves nothing that waits', async (signal) => {
    const own = mkdtempSync(join(folder, 'own-'))
    const self = String(process.pid)
    const timer = spawn('sh', ['src/keep/scripts/timer.sh', own, '600', '', self, self, 'harness', node, 'cli', 'r1'], { stdio: 'ignore' })
    const children = (): string => readOr(`/proc/${timer.pid}/task/${timer.pid}/children`).trim()
    const rest = Number(await until('it to rest', () => (readOr(`/proc/${children()}/comm`) === 'sleep\n' ? children() : null)))
    try {
      timer.kill(signal)
      await gone(rest)
    } finally {
      if (isAlive(rest)) process.kill(rest, 'SIGKILL')
    }
  })

  test('ends it in time also where the program that ties its rest to it is too old', async () => {
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'setpriv'), `#!/bin/sh\necho old >>'${folder}/setpriv'\nexit 1\n`, { mode: 0o755 })
    const began = performance.now()
    expect(await callsOf(join(folder, 'gone'), 2, `${bin}:${process.env['PATH']}`)).toEqual(['cli _end r1 TIMEOUT'])
    expect(performance.now() - began).toBeGreaterThan(1_000)
    expect(readFileSync(join(folder, 'setpriv'), 'utf8')).toBe('old\n')
  })

  verifies('bounded', 'waits for no pipe, reads no giant and writes through no link that its agent puts there, and ends it in time', async () => {
    const hostile = mkdtempSync(join(tmpdir(), 'holdfast-timer-'))
    const at = (name: string): string => join(hostile, name)
    try {
      for (const name of ['timer', 'follow', 'followed']) execFileSync('mkfifo', [at(name)])
      expect((await callsOf(hostile, 1)).at(-1)).toBe('cli _end r1 TIMEOUT')
      for (const name of ['timer', 'follow', 'followed']) rmSync(at(name))
      writeFileSync(at('victim'), 'mine')
      for (const name of ['timer', 'followed']) symlinkSync(at('victim'), at(name))
      writeFileSync(at('follow'), '')
      truncateSync(at('follow'), 2 ** 30)
      expect((await callsOf(hostile, 1)).at(-1)).toBe('cli _end r1 TIMEOUT')
      expect(readFileSync(at('victim'), 'utf8')).toBe('mine')
    } finally {
      rmSync(hostile, { recursive: true })
    }
  })
})
