import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { askManager } from '../../src/keep/index.ts'
import { policy } from '../../src/model/index.ts'
import { readOr } from '../real/lab.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hf-manager-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const env = (): NodeJS.ProcessEnv => ({ HOME: folder, PATH: `${folder}:${process.env['PATH']}` })
function program(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(folder, name), 0o755)
}

test('what a manager says is told, up to a bound; one that is not there is told too', async () => {
  program('fake-ctl', 'echo out "$@"; echo first >&2; echo second >&2; exit 3')
  expect(await askManager(join(folder, 'fake-ctl'), ['a b', 'c'], env())).toEqual({ kind: 'answered', code: 3, out: 'out a b c\n', said: 'first' })
  program('fake-ctl', 'head -c 200000 /dev/zero | tr "\\0" x')
  const long = await askManager(join(folder, 'fake-ctl'), [], env())
  expect(long.kind === 'answered' && long.out.length).toBe(policy.managerBytes)
  expect(await askManager('hf-no-such-ctl', [], env())).toEqual({ kind: 'silent', why: 'there is no hf-no-such-ctl on the PATH' })
  // What it leaves behind may hold its output open.
  program('fake-ctl', 'sleep 30 & echo $! >"$HOME/left"; echo done')
  const began = performance.now()
  expect(await askManager(join(folder, 'fake-ctl'), [], env())).toMatchObject({ kind: 'answered', code: 0, out: 'done\n' })
  expect(performance.now() - began).toBeLessThan(policy.managerMs)
  process.kill(Number(readOr(join(folder, 'left'))), 'SIGKILL')
})
