import { type HookHelp, hookHelp, openWorld, ownArguments } from '../app/index.ts'
import { exitCode, Problem, policy } from '../model/index.ts'
import { faultOf } from '../show/index.ts'
import type { Command, Run } from './command.ts'
import { tellVersion } from './commands/version.ts'
import { commandNamed } from './find.ts'
import { flag, type Parsed, parse } from './options.ts'
import { say, sayBug, sayProblem, sayProblemJson, write } from './out.ts'
import { TABLE } from './table.ts'
import { texts } from './texts.ts'
import { merged, parseVerb, takersOf } from './verb.ts'

/** Global options may also stand before the verb. */
const BEFORE_VERB = {
  options: [flag('version', 'print the version')],
  takesCommand: true,
  help: 'holdfast help',
  takers: (name: string) => takersOf(name, TABLE),
}

/** One command from its words to its exit code. */
async function main(args: readonly string[]): Promise<number> {
  const before = parse(args, BEFORE_VERB)
  const [name, ...rest] = before.command ?? []
  if (before.flags.has('version') && !before.flags.has('help')) return tellVersion(before)
  if (name === undefined && before.flags.has('json') && !before.flags.has('help'))
    throw new Problem('verb-missing', 'there is no verb', { hint: 'holdfast help lists them' })
  if (name === undefined) return overview(before.flags.has('help') ? 1 : 2)
  const command = commandNamed(name, TABLE)
  if (before.flags.has('help')) return explain(command)
  const { parsed: own, sub } = parseVerb(command, rest, TABLE)
  const parsed = merged(before, own)
  if (parsed.flags.has('help')) return explain(command)
  if (parsed.values.get('home') === '') throw new Problem('option-value-missing', '--home needs a folder')
  if ('answer' in command) return command.answer(parsed, TABLE)
  const run = 'run' in command ? command.run : sub?.run
  if (run === undefined) throw new Problem('unexpected-error', `verb ${name} has no handler`)
  return inWorld(command, run, parsed)
}

const STARTING = { ms: policy.startBusyMs, tell: () => say('waiting for the store: other commands are writing to it') }

async function inWorld(command: Command, run: Run, parsed: Parsed): Promise<number> {
  const patience = command.isStart === true ? { patience: STARTING } : {}
  const world = openWorld({ assets: __dirname, home: parsed.values.get('home'), ...patience })
  let isTold = command.handlesConfigTrouble === true
  try {
    return await run(world, parsed)
  } catch (error) {
    isTold ||= error instanceof Problem && error.id === 'config-invalid'
    throw error
  } finally {
    const trouble = world.configTrouble()
    if (trouble !== null && !isTold) say(`${trouble}; it was left out of account`)
    world.close()
  }
}

function overview(fd: 1 | 2): number {
  write(fd, `${texts().overviewText(TABLE)}\n`)
  return fd === 1 ? exitCode.done : exitCode.badCommand
}

function explain(command: Command): number {
  write(1, `${command.name === 'help' ? texts().overviewText(TABLE) : texts().verbText(command)}\n`)
  return exitCode.done
}

/** Said by the caller, and not to the agent: from the first plain word of a verb that takes a command on, options are that command's. */
function wantsJson(args: readonly string[]): boolean {
  try {
    const { flags, command } = parse(args, BEFORE_VERB)
    const [name = '', ...rest] = command ?? []
    return flags.has('json') || parseVerb(commandNamed(name, TABLE), rest, TABLE).parsed.flags.has('json')
  } catch {
    // Words that make no sense: whoever says --json anywhere among them is a program.
    return args.slice(0, args.includes('--') ? args.indexOf('--') : undefined).includes('--json')
  }
}

/** For hook.cjs, which loads this bundle when a hook needs more than it has. */
export const openHookHelp = (home: string): HookHelp => hookHelp(openWorld({ assets: __dirname, home }))

/** Faults of the world are told in a sentence; bugs with their stack. */
if (require.main?.filename === __filename)
  main(ownArguments()).then(
    (code) => {
      process.exitCode = code
    },
    (thrown: unknown) => {
      const error = faultOf(thrown) ?? thrown
      if (error instanceof Problem) {
        if (wantsJson(process.argv.slice(2))) sayProblemJson(error)
        else sayProblem(error)
        process.exitCode = error.exitCode
        return
      }
      sayBug(error)
      process.exitCode = exitCode.bug
    },
  )
