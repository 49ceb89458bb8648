/** What a real agent CLI was seen to do with Holdfast. */
export type Row = { readonly agent: string; readonly version: string; readonly ability: string; readonly result: 'works' | 'fails' }

const HEAD = `# Agents

What real agent CLIs do with Holdfast, offline, against a model of the tests. A row is what was seen last with that agent and version.

\`npm run test:harness -- NAME\` runs the scenarios with the agent NAME and writes its rows here. Rows of other agents stay. A run of all scenarios of an
agent also takes away its rows of scenarios that are no more. Agents without rows were not run: \`docs/decisions/017-harnesses.md\` tells how far those are known.

| agent | version | ability | result |
|---|---|---|---|
`

const ROW = /^\| (\S+) \| (\S+) \| (.+) \| (works|fails) \|$/

export const rowsIn = (page: string): Row[] =>
  page.split('\n').flatMap((line): Row[] => {
    const [, agent = '', version = '', ability = '', result] = ROW.exec(line) ?? []
    return result === 'works' || result === 'fails' ? [{ agent, version, ability, result }] : []
  })

/** `whole`: agents of which every scenario was run. */
export function merged(before: readonly Row[], seen: readonly Row[], whole: ReadonlySet<string>): Row[] {
  const isSeen = (row: Row): boolean => seen.some(({ agent, ability }) => agent === row.agent && ability === row.ability)
  return [...before.filter((row) => !isSeen(row) && !whole.has(row.agent)), ...seen]
}

export function pageOf(rows: readonly Row[]): string {
  const lines = rows
    .toSorted((a, b) => compare(a.agent, b.agent) || compare(a.ability, b.ability))
    .map(({ agent, version, ability, result }) => `| ${agent} | ${version} | ${ability} | ${result} |\n`)
  return HEAD + lines.join('')
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
