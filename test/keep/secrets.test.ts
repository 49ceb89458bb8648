import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { secretsOf } from '../../src/keep/index.ts'
import type { SecretRef } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

const base = mkdtempSync(join(tmpdir(), 'hf-secret-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const file = join(base, 'token')
writeFileSync(file, 'from-file\n', { mode: 0o600 })
writeFileSync(join(base, 'empty'), '\n')
const secrets = secretsOf({ PATH: process.env['PATH'], TOKEN: 'from-variable', BLANK: 'a b' })

test.each<[SecretRef, string]>([
  [{ file }, 'from-file'],
  [{ env: 'TOKEN' }, 'from-variable'],
  [{ command: ['printf', 'from-%s\\n', 'command'] }, 'from-command'],
])('%j is read', async (ref, secret) => expect(await secrets.read(ref)).toBe(secret))

test.each<[SecretRef, RegExp]>([
  [{ file: join(base, 'missing') }, /missing cannot be read for a secret/],
  [{ file: base }, /cannot be read for a secret/],
  [{ file: join(base, 'empty') }, /empty holds no secret/],
  [{ env: 'NOPE' }, /the variable NOPE, which holds a secret, is not set/],
  [{ env: 'BLANK' }, /the variable BLANK holds no secret/],
  [{ command: ['holdfast-no-such-program'] }, /holdfast-no-such-program, which tells a secret, is not on the PATH/],
  [{ command: ['false'] }, /false, which tells a secret, failed \(1\)/],
])('%j is refused with a sentence', async (ref, sentence) => expect(secrets.read(ref)).rejects.toThrow(sentence))

verifies('private', 'the words of a program that fails do not reach a message', async () => {
  const answer = await secrets.read({ command: ['sh', '-c', 'echo hush; echo hush >&2; exit 3'] }).catch((error: Error) => error)
  expect(String(answer)).toContain('failed (3)')
  expect(`${String(answer)} ${String((answer as Error).cause)}`).not.toContain('hush')
})
