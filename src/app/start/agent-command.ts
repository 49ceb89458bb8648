import { randomUUID } from 'node:crypto'
import {
  choosesSession,
  continuesNewest,
  daemonizes,
  headlessWords,
  idIn,
  isHeadless,
  keptWords,
  resumeWords,
  startWords,
  wantsApart,
} from '../../decide/index.ts'
import { commandOf, isIdle } from '../../harness/index.ts'
import { helpOf, readPrompt } from '../../keep/index.ts'
import type { Agent, Harness } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import type { Spoken } from './plan.ts'
import { asArgument } from './prompt.ts'
import type { StartRequest } from './request.ts'

export function speak(world: World, request: StartRequest): Spoken {
  const { argv, harness: name, adopt } = request
  if (adopt !== undefined) return asItRuns(world, argv, adopt)
  if (name === 'generic') return { ...UNKNOWN, argv }
  if (name === undefined) return literally(world, request)
  const harness = namedHarness(world, name)
  const program = programOf(world, harness)
  const told = { ...request, argv: [...apartWords(world, harness, request), ...argv] }
  const spoken = request.resume === undefined ? beginning(harness, told) : goingOn(world, harness, told, request.resume)
  refuseWithoutTerminal(harness, request, spoken.prompt !== null || isHeadless(harness, argv) || daemonizes(harness, argv))
  return { ...spoken, argv: [program, ...spoken.argv], harness, daemonizes: daemonizes(harness, argv), continues: continuesNewest(harness, argv) }
}

/** In a daemon that it shares with others a session is hard to tell from theirs: our own are kept out of it. */
function apartWords(world: World, harness: Harness, { argv, promptFile }: StartRequest): string[] {
  const { apart } = harness.speech
  if (apart === undefined || promptFile !== undefined || isHeadless(harness, argv)) return []
  return wantsApart(harness, argv, helpOf(programOf(world, harness), world.env)) ? [apart] : []
}

const UNKNOWN = { harness: null, native: null, resumes: false, prompt: null, daemonizes: false, continues: false } as const

/** A command as it stands: not a word of it is changed, but we know what we know of it. */
function literally(world: World, { argv, promptFile }: StartRequest): Spoken {
  if (promptFile !== undefined)
    throw new Problem('prompt-unsupported', '--prompt-file is for an agent that Holdfast knows how to talk to', {
      hint: 'holdfast run --prompt-file F claude',
    })
  const { harness, args } = commandOf(argv, world.ownHarnesses()) ?? { harness: null, args: [] }
  if (harness === null) return { ...UNKNOWN, argv }
  const native = idIn(harness, args)
  return {
    argv,
    harness,
    native,
    resumes: native !== null,
    prompt: null,
    daemonizes: daemonizes(harness, args),
    continues: continuesNewest(harness, args),
  }
}

/** What is adopted was started by others: it carries what is proven of it. */
function asItRuns(world: World, argv: readonly string[], { harness: name, nativeId }: Agent): Spoken {
  const harness = world.harnesses().find((one) => one.name === name) ?? null
  return { argv, harness, native: harness === null ? null : nativeId, resumes: true, prompt: null, daemonizes: false, continues: false }
}

function namedHarness(world: World, name: string): Harness {
  const harness = world.harnesses().find((one) => one.name === name)
  if (harness !== undefined) return harness
  throw new Problem('agent-unknown', `Holdfast does not know an agent called ${JSON.stringify(name)}`, {
    hint: `it knows ${world
      .harnesses()
      .map((one) => one.name)
      .join(', ')}; others can be described in config.toml, or started with: holdfast run -- COMMAND…`,
  })
}

type Words = Pick<Spoken, 'argv' | 'native' | 'resumes' | 'prompt'>

function beginning(harness: Harness, { argv: args, promptFile }: StartRequest): Words {
  const { words: said, id } = startWords(harness, args, randomUUID())
  const about = { native: id, resumes: choosesSession(harness, args) }
  if (promptFile === undefined) return { argv: said, ...about, prompt: null }
  const { words, stdin } = headless(harness, { kind: 'start', id }, args, promptFile)
  return { argv: words, ...about, prompt: stdin }
}

function goingOn(world: World, harness: Harness, request: StartRequest, { native, from }: NonNullable<StartRequest['resume']>): Words {
  const { argv: args, promptFile } = request
  if (harness.sessions !== null && harness.sessions.find(world.env, native, world.readDatabase) === null)
    return notYetBegun(harness, request, native, from)
  const about = { native, resumes: true }
  const said = resumeWords(harness, native, from, args)
  if (said === null)
    throw new Problem('resume-unsupported', `${harness.title} cannot resume a session by its id`, {
      hint: `start a new one: holdfast run ${harness.name}`,
    })
  if (promptFile === undefined) return { argv: said, ...about, prompt: null }
  const kept = keptWords(harness, from, args, 'headless')
  const { words, stdin } = headless(harness, { kind: 'resume', id: native }, [...kept, ...args], promptFile)
  return { argv: words, ...about, prompt: stdin }
}

/** A session that was never given a prompt lies nowhere, and cannot be resumed: it begins anew, under the same id where it lets us choose. */
function notYetBegun(harness: Harness, { argv: args, promptFile }: StartRequest, native: string, from: readonly string[]): Words {
  if (harness.speech.preset === null)
    throw new Problem(
      'conversation-missing',
      `${harness.title} has no session ${native} here: it was never given a prompt, or lies in another home`,
      {
        hint: `start a new one: holdfast run ${harness.name}`,
      },
    )
  const kept = [...keptWords(harness, from, args, promptFile === undefined ? 'interactive' : 'headless'), ...args]
  if (promptFile === undefined) return { argv: startWords(harness, kept, native).words, native, resumes: false, prompt: null }
  const { words, stdin } = headless(harness, { kind: 'start', id: native }, kept, promptFile)
  return { argv: words, native, resumes: false, prompt: stdin }
}

type How = Parameters<typeof headlessWords>[1]

/** One prompt, then it ends. A prompt is never part of a shell's words, and comes on stdin where the harness takes it so. */
function headless(harness: Harness, how: How, args: readonly string[], file: string): { words: readonly string[]; stdin: Uint8Array | null } {
  const prompt = readPrompt(file)
  const onStdin = harness.speech.headless?.prompt === 'stdin'
  const words = headlessWords(harness, how, args, onStdin ? null : asArgument(prompt, harness.title))
  if (words === null)
    throw new Problem('prompt-unsupported', `${harness.title} takes no prompt without a terminal${how.kind === 'resume' ? ' when it resumes' : ''}`)
  return { words, stdin: onStdin ? prompt : null }
}

export const isInstalled = (world: World, harness: Harness): boolean => installed(world, harness) !== undefined

const installed = (world: World, { commands, owns }: Harness): string | undefined =>
  commands.find((command) => {
    const path = world.directories.program(command, '/', world.env['PATH'])
    return path !== null && owns?.(path) !== false
  })

/** The first of its executables that is there. */
function programOf(world: World, harness: Harness): string {
  const { title, commands } = harness
  const found = installed(world, harness)
  if (found !== undefined) return found
  throw new Problem('agent-not-installed', `${title} is not installed: there is no ${commands.join(' or ')} on PATH`, {
    hint: 'install it, or say where it is: holdfast run -- /path/to/COMMAND…',
  })
}

/** A TUI without a terminal does nothing, or worse. Where a harness has no form without one that we know of, its command may know better. */
function refuseWithoutTerminal(harness: Harness, { detach, tmux, argv }: StartRequest, canDoWithout: boolean): void {
  if (!detach || tmux === true || canDoWithout || harness.speech.headless === null || isIdle(harness, argv)) return
  const { title, name } = harness
  throw new Problem('agent-needs-terminal', `${title} needs a terminal here, and a detached run has none`, {
    hint: `host it in tmux: --tmux; or use its form without a terminal: --prompt-file F; or say it as it stands: -- ${name} …`,
  })
}
