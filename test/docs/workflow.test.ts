import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openConfig } from '../../src/app/compose/config.ts'
import { readWorkflow, WORKFLOW_SAMPLE } from '../../src/decide/index.ts'
import { USED_KEYS } from '../../src/decide/workflow/unused.ts'
import { parseFrontMatter } from '../../src/keep/workflow/front-matter.ts'
import { renderTemplate } from '../../src/keep/workflow/template.ts'
import { WORK_DEFAULT, WORKFLOW_DEFAULT } from '../../src/model/index.ts'

const page = readFileSync('docs/reference/workflow.md', 'utf8')
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text]) => text ?? '')

test('the page names every setting that is read', () => {
  expect(USED_KEYS.filter((key) => !page.includes(`\`${key}\``))).toEqual([])
})

test('its example is a workflow, and its template can be filled in', () => {
  const { settings, prompt } = parseFrontMatter(blocks('markdown')[0] ?? '')
  const read = readWorkflow(settings, prompt)
  expect('workflow' in read ? [read.workflow.hooks.afterCreate, read.workflow.agent, read.workflow.unused] : read).toEqual([
    'npm ci',
    ['claude', '--permission-mode', 'acceptEdits'],
    [],
  ])
  expect(renderTemplate(prompt, WORKFLOW_SAMPLE[0] ?? {})).toContain('Do A title.')
})

test('its examples of config.toml hold, and tell the defaults', () => {
  const home = mkdtempSync(join(tmpdir(), 'hf-docs-'))
  try {
    writeFileSync(join(home, 'config.toml'), blocks('toml').join('\n'))
    const config = openConfig(home)
    expect(config.work()).toEqual({
      ...WORK_DEFAULT,
      agent: ['claude', '--permission-mode', 'acceptEdits'],
      limits: { ...WORK_DEFAULT.limits, perLabel: { 'size=large': 1 } },
    })
    expect(config.sources().map(({ name, open }) => [name, open])).toEqual([['plane', 10]])
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
  expect([WORKFLOW_DEFAULT.limits.wallMs, WORKFLOW_DEFAULT.limits.idleMs, WORKFLOW_DEFAULT.limits.noProgressMs]).toEqual([
    21_600_000, 1_800_000, 5_400_000,
  ])
})
