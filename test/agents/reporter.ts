import { readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Reporter, TestCase, TestModule } from 'vitest/node'
import { merged, pageOf, type Row, rowsIn } from './page.ts'

/** Of the command that `npm run test:harness` runs. */
const OWN_WORDS = ['run', '--project', 'harness']
const PAGE = 'docs/reference/agents.md'

/** Writes what was seen into the page of agents: `npm run test:harness` adds this reporter. */
export default class AgentsPage implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const cases = modules.flatMap((module) => [...module.children.allTests()])
    const seen = cases.flatMap(rowOf)
    if (seen.length === 0) return
    // Scenarios are skipped for agents that were not asked for; a filter of names or files leaves others out.
    const isFiltered = process.argv.slice(2).some((word) => !OWN_WORDS.includes(word) && !word.startsWith('--reporter='))
    const whole = isFiltered ? [] : seen.map(({ agent }) => agent)
    writeFileSync(PAGE, pageOf(merged(rowsIn(readOr(PAGE)), seen, new Set(whole))))
  }
}

function rowOf(test: TestCase): Row[] {
  const [agent = '', ...rest] = test.name.split(': ')
  const { state } = test.result()
  const version = VERSIONS.get(agent)
  if (version === undefined || (state !== 'passed' && state !== 'failed')) return []
  return [{ agent, version, ability: rest.join(': ').replaceAll('|', '/'), result: state === 'passed' ? 'works' : 'fails' }]
}

/** An agent lies in a folder of its name and version. */
const VERSIONS = new Map(
  (process.env['HOLDFAST_AGENTS_FOUND'] ?? '').split('\n').flatMap((line) => {
    const [name = '', path = ''] = line.split('\t')
    const folder = basename(dirname(dirname(path)))
    return folder.startsWith(`${name}-`) ? [[name, folder.slice(name.length + 1)] as const] : []
  }),
)

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
