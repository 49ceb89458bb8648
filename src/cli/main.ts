import { openWorld, type World } from '../app/index.ts'
import { exitCode, Problem } from '../model/index.ts'
import { endVerb, finishVerb, reconcileVerb, stopVerb, waitVerb } from './end.ts'
import { HELP } from './help.ts'
import { parse } from './options.ts'
import { print, printJson, say, sayProblem, write } from './out.ts'
import { attachVerb, eventsVerb, locksVerb, logsVerb, lsVerb, statusVerb, treeVerb } from './see.ts'
import { restartVerb, resumeVerb, runVerb } from './start.ts'

declare const HOLDFAST_VERSION: string

type Verb = (world: World, args: readonly string[]) => Promise<number>
const VERBS: Readonly<Record<string, Verb>> = {
  run: runVerb,
  resume: resumeVerb,
  restart: restartVerb,
  attach: attachVerb,
  stop: stopVerb,
  wait: waitVerb,
  ls: lsVerb,
  status: statusVerb,
  tree: treeVerb,
  events: eventsVerb,
  logs: logsVerb,
  locks: locksVerb,
  reconcile: reconcileVerb,
  // For the keeper only.
  _finish: finishVerb,
  _end: endVerb,
}

/** One command from its words to its exit code. Faults of the world are told in a sentence; bugs with their stack. */
async function main(args: readonly string[]): Promise<number> {
  const { verb, rest, home, json } = verbOf(args)
  if (verb === undefined || verb === 'help' || (rest.includes('--help') && !rest.slice(0, rest.indexOf('--help')).includes('--'))) {
    write(verb === undefined ? 2 : 1, `${HELP}\n`)
    return verb === undefined ? exitCode.usage : 0
  }
  if (verb === 'version') {
    if (json || parse(rest, {}).flags.has('json')) printJson({ version: HOLDFAST_VERSION, node: process.version })
    else print([`holdfast ${HOLDFAST_VERSION}`])
    return 0
  }
  const run = VERBS[verb]
  if (run === undefined) throw new Problem('usage', `unknown verb ${JSON.stringify(verb)}`, { hint: 'holdfast help lists them' })
  const world = openWorld({ assets: __dirname, home })
  try {
    return await run(world, json ? ['--json', ...rest] : rest)
  } finally {
    world.close()
  }
}

/** The verb, and the global options wherever they stand before a command. */
function verbOf(args: readonly string[]): { verb: string | undefined; rest: string[]; home: string | undefined; json: boolean } {
  const before: string[] = []
  let index = 0
  for (; index < args.length && (args[index] ?? '').startsWith('-'); index++) {
    before.push(args[index] ?? '')
    if (args[index] === '--home') before.push(args[++index] ?? '')
    if (args[index] === '--help' || args[index] === '-h') return { verb: 'help', rest: [], home: undefined, json: false }
    if (args[index] === '--version') return { verb: 'version', rest: [], home: undefined, json: false }
  }
  const leading = parse(before, {})
  const rest = args.slice(index + 1)
  return { verb: args[index], rest, home: homeIn(rest) ?? leading.values.get('home'), json: leading.flags.has('json') }
}

function homeIn(args: readonly string[]): string | undefined {
  const own = args.slice(0, args.includes('--') ? args.indexOf('--') : undefined)
  const at = own.indexOf('--home')
  return at >= 0 ? own[at + 1] : own.find((word) => word.startsWith('--home='))?.slice('--home='.length)
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    if (error instanceof Problem) {
      sayProblem(error)
      process.exitCode = error.exitCode
      return
    }
    say(`a bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    process.exitCode = exitCode.bug
  },
)
