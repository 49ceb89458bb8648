import { expect } from 'vitest'
import { pinned } from '../pins/matcher.ts'
import type { Lab } from './lab.ts'

/** The JSON of the built command, and its exit code, are like the literal example. `--json` stands right behind the verb. */
export async function pins(lab: Lab, code: number, [verb = '', ...args]: readonly string[], wanted: unknown): Promise<void> {
  const { code: got, stdout, stderr } = await lab.hf([verb, '--json', ...args])
  expect(got, `holdfast ${verb} ${args.join(' ')}\n${stderr}`).toBe(code)
  pinned(JSON.parse(stdout), wanted)
}

/** A refusal is one object on stderr, and stdout stays empty. Its prose may improve. */
export async function refuses(
  lab: Lab,
  code: number,
  [verb = '', ...args]: readonly string[],
  wanted: Readonly<Record<string, unknown>>,
): Promise<void> {
  const result = await lab.hf([verb, '--json', ...args])
  expect([result.code, result.stdout], result.stderr).toEqual([code, ''])
  pinned(JSON.parse(result.stderr), { code, message: '<text>', hint: '<text>', ...wanted })
}
