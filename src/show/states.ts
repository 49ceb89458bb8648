import { END_STATES, LIVE_STATES, RUN_EVENTS, RUN_TABLE } from '../model/index.ts'

/** docs/states.md, printed from the model. */
export function statesPage(): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const table = [...LIVE_STATES, ...END_STATES].map((state) => row([`**${state}**`, ...RUN_EVENTS.map((event) => next(RUN_TABLE[state][event]))]))
  return `# States

Printed from \`src/model/states.ts\` by \`npm run docs\`; a test compares the two. Rows are states of a run, columns are what happens.
\`·\` means refused: the writer came too late, is told so, and changes nothing.

${[row(['state', ...RUN_EVENTS]), row(['---', ...RUN_EVENTS.map(() => '---')]), ...table].join('\n')}

- \`recorded\`: the keeper is in the store, the gate may open. In the foreground the claim itself records it.
- \`asked\`: somebody wants it to end; the first intent (stopped, superseded) stands.
- \`exited\`: the harness is gone, its tree is not yet; the exit is on record.
- \`completed\`: exit 0 · \`failed\`: non-zero, a signal, or could not start · \`stopped\`: we were asked · \`superseded\`: taken over ·
  \`lost\`: proven over, and nothing tells how.
`
}

const next = (state: string): string => (state === 'refused' ? '·' : state)
