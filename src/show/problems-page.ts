import { exitCode, PROBLEM_GROUPS, type ProblemKind, type ProblemTable } from '../model/index.ts'
import { PROBLEM_WORDS } from './problem.ts'

/** docs/reference/problems.md, printed from the model. */
export function problemsPage(): string {
  const groups = Object.entries(PROBLEM_GROUPS as Readonly<Record<string, ProblemTable>>)
  return `# Problems

\`npm run docs\` prints this page from \`src/model/problems\`; a test compares the two.

Every refusal and failure has an id. With \`--json\` the command writes \`{error, id, code, message, hint}\` and further facts to stderr.
MCP tools answer with the same object, and HTTP answers carry \`id\`. Programs read \`id\`: an id is never removed and keeps its exit code.
The sentence in \`message\` may change at any time.

## Exit codes

${table(
  ['exit code', '`error`', 'meaning'],
  Object.entries(KINDS).map(([kind, means]) => [String(exitCode[kind as ProblemKind]), `\`${PROBLEM_WORDS[kind as ProblemKind]}\``, means]),
)}
${groups.map(([title, problems]) => `\n## ${title}\n\n${problemRows(problems)}\n`).join('')}`
}

const problemRows = (problems: ProblemTable): string =>
  table(
    ['id', 'exit code', 'meaning'],
    Object.entries(problems).map(([id, { kind, means }]) => [`\`${id}\``, String(exitCode[kind]), means]),
  )

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const KINDS: Readonly<Record<ProblemKind, string>> = {
  badCommand: 'The command or its configuration must change first.',
  notFound: 'A session, run, process, program or file does not exist.',
  unavailable: 'Something that Holdfast needs cannot be used now.',
  bug: 'Holdfast has a bug.',
  held: 'A live owner or a competing command is in the way.',
  unproven: 'Holdfast cannot prove what it needs to know, so it does nothing.',
  survivors: 'Processes could not be ended.',
}
