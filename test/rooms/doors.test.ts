import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { sources } from './sources.ts'

/** Every file that writes to standard output, to standard error or to the daemon's log, and the function through which all that it writes goes. */
const DOORS: Readonly<Record<string, RegExp | null>> = {
  'cli/out.ts': /doorLine\(/,
  'cli/hook-main.ts': /plainLines\(/,
  'mcp/stderr.ts': /plainParagraph\(/,
  'daemon/frame/log.ts': /plainParagraph\(/,
  'keep/daemon/daemon-files.ts': /plainParagraph\(line/,
  // Messages of MCP, which are JSON.
  'mcp/index.ts': null,
  // In test builds alone.
  'app/world/failpoints.ts': null,
}
const WRITES = /\bwrite(?:Sync)?\(\s*[12],|\bwriteSync\(fd, (?:rest|text)\)|\bprocess\.std(?:out|err)\b|\bconsole\.|\bappend\(log,/

verifies('visible', 'whatever is shown leaves through a door that cleans it', () => {
  const writing = sources().filter(({ path, text }) => WRITES.test(text) && !path.startsWith('cli/commands/') && path !== 'cli/main.ts')
  expect(writing.map(({ path }) => path).sort()).toEqual(Object.keys(DOORS).sort())
  for (const { path, text } of writing) if (DOORS[path] != null) expect(text, path).toMatch(DOORS[path])
  // A verb writes by itself only what is ours alone: help, and scripts for shells.
  const verbs = sources().filter(({ path, text }) => path.startsWith('cli/') && path !== 'cli/out.ts' && /\bwrite\(/.test(text))
  expect(verbs.map(({ path }) => path).sort()).toEqual([
    'cli/commands/completion.ts',
    'cli/commands/help.ts',
    'cli/commands/shell-init.ts',
    'cli/main.ts',
  ])
})
