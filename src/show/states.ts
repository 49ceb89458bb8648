import {
  END_STATES,
  FEEDBACK_EVENTS,
  FEEDBACK_STATES,
  FEEDBACK_TABLE,
  LIVE_STATES,
  OPEN_REQUEST_STATES,
  REQUEST_END_STATES,
  REQUEST_EVENTS,
  REQUEST_TABLE,
  RUN_EVENTS,
  RUN_TABLE,
} from '../model/index.ts'

/** docs/states.md, printed from the model. */
export function statesPage(): string {
  return `# States

Printed from \`src/model\` by \`npm run docs\`; a test compares the two. Rows are states, columns are what happens.
\`·\` means refused: the writer came too late, is told so, and changes nothing.

## Runs

${table([...LIVE_STATES, ...END_STATES], RUN_EVENTS, RUN_TABLE)}

- \`recorded\`: the keeper is in the store, the gate may open. In the foreground the claim itself records it.
- \`asked\`: somebody wants it to end; the first intent (stopped, superseded) stands.
- \`exited\`: the harness is gone, its tree is not yet; the exit is on record.
- \`completed\`: exit 0 · \`failed\`: non-zero, a signal, or could not start · \`stopped\`: we were asked · \`superseded\`: taken over ·
  \`lost\`: proven over, and nothing tells how.

## Requests

${table([...OPEN_REQUEST_STATES, ...REQUEST_END_STATES], REQUEST_EVENTS, REQUEST_TABLE)}

- \`claimed\`: a worker takes it, and its token grows · \`started\`: its agent runs, and the claim belongs to that run from now on.
- \`released\`: its run is proven over without a result, and another attempt may come · \`due\`: the thing that it waits for has come.
- \`paused\`: it waits, for a review, feedback, a limit, a dependency or its publication (\`cause\`).
- \`done\`: it has a result · \`blocked\`: a person has to act, and \`reason\` and \`summary\` say why · \`cancelled\`: somebody, or its source, closed it.

## Feedback

${table(FEEDBACK_STATES, FEEDBACK_EVENTS, FEEDBACK_TABLE)}

- \`began\`: it is on its way · \`delivered\`: a receipt says so · \`returned\`: it is proven that it did not arrive.
- \`lost\`: whether it arrived cannot be told · \`retried\`: a person wants it sent once more · \`ignored\`: its request is over.
`
}

function table<S extends string, E extends string>(
  states: readonly S[],
  events: readonly E[],
  next: Readonly<Record<S, Readonly<Record<E, string>>>>,
): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const rows = states.map((state) => row([`**${state}**`, ...events.map((event) => (next[state][event] === 'refused' ? '·' : next[state][event]))]))
  return [row(['state', ...events]), row(['---', ...events.map(() => '---')]), ...rows].join('\n')
}
