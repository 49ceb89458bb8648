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
import { commandsOf, isIdle } from '../../harness/index.ts'
import { helpOf, promptOf, readPrompt } from '../../keep/index.ts'
import type { Agent, Harness, NativeId } from '../../model/index.ts'
import { installedAgent } from '../agent/installed-agents.ts'
import type { World } from '../world/world.ts'
import { checked } from './checks/check.ts'
import { once } from './once.ts'
import type { AgentCommand, Called, Worded } from './plan.ts'
import type { StartRequest } from './request.ts'

/** What is known of the command before its words are chosen. */
type Facts = Omit<Worded, 'spoken'>

/** Gathers it. A prompt is read at first use: stdin can be read only once. */
export function commandFacts(called: Called): Facts {
  const { world, asked } = called
  const { harness: name, adopt, resume, prompt } = asked
  const named = (adopt === undefined && name !== undefined && name !== 'generic' ? world.harnesses().find((one) => one.name === name) : null) ?? null
  return {
    ...called,
    named,
    program: named === null ? null : (installedAgent(world, named)?.command ?? null),
    begins: named !== null && resume !== undefined && (resume.native === null || !isUnbegun(world, named, resume.native)) ? 'resume' : 'start',
    prompt: once(() => (prompt === undefined ? null : 'text' in prompt ? promptOf(prompt.text) : readPrompt(prompt.file))),
  }
}

/** A session that was never given a prompt lies nowhere, and cannot be resumed: it begins anew, under the same id where it lets us choose. */
const isUnbegun = (world: Pick<World, 'env' | 'readDatabase'>, { sessions }: Harness, native: string): boolean =>
  sessions !== null && sessions.find(world.env, native, world.readDatabase) === null

/** The words of a command that the checks have let pass. */
export function speak(facts: Facts): AgentCommand {
  const { world, asked: request, named: harness, program } = facts
  const { argv, adopt } = request
  if (adopt !== undefined) return asItRuns(world, argv, adopt)
  if (request.harness === 'generic') return { ...UNKNOWN, argv }
  if (harness === null || program === null) return literally(world, request)
  const told = { ...facts, asked: { ...request, argv: [...apartWords(world, harness, program, request), ...argv] } }
  const { resume } = request
  if (resume?.native === null) return { ...UNKNOWN, argv: [program], harness, resumes: true, unresumable: true }
  const spoken = resume === undefined ? beginning(harness, told) : goingOn(harness, told, resume.native, resume.from)
  const about = { harness, names: [], daemonizes: daemonizes(harness, argv), continues: continuesNewest(harness, argv) }
  return { ...spoken, ...about, argv: [program, ...spoken.argv], needsTerminal: needsTerminal(harness, request) }
}

/** Where a harness has no form without a terminal that we know of, its command may know better. */
const needsTerminal = (harness: Harness, { argv, detach, tmux, prompt }: StartRequest): boolean =>
  detach &&
  tmux !== true &&
  prompt === undefined &&
  harness.speech.headless !== null &&
  !isIdle(harness, argv) &&
  !isHeadless(harness, argv) &&
  !daemonizes(harness, argv)

/** In a daemon that it shares with others a session is hard to tell from theirs: our own are kept out of it. */
function apartWords(world: Pick<World, 'env'>, harness: Harness, program: string, { argv, prompt }: StartRequest): string[] {
  const { apart } = harness.speech
  if (apart === undefined || prompt !== undefined || isHeadless(harness, argv)) return []
  return wantsApart(harness, argv, helpOf(program, world.env)) ? [apart] : []
}

const UNKNOWN = { harness: null, native: null, names: [], resumes: false, prompt: null, daemonizes: false, continues: false } as const

/** A command as it stands: not a word of it is changed, but we know what we know of it. */
function literally(world: Pick<World, 'ownHarnesses'>, { argv }: StartRequest): AgentCommand {
  const commands = commandsOf(argv, world.ownHarnesses())
  const [first, ...more] = commands
  const names = commands.flatMap(({ harness, args }): NativeId[] => {
    const id = idIn(harness, args)
    return id === null ? [] : [{ harness: harness.name, id }]
  })
  // Which of several it is about shows only when it runs.
  if (first === undefined || more.length > 0) return { ...UNKNOWN, argv, names }
  const { harness, args } = first
  const native = names[0]?.id ?? null
  return {
    argv,
    harness,
    native,
    resumes: native !== null,
    names,
    prompt: null,
    daemonizes: daemonizes(harness, args),
    continues: continuesNewest(harness, args),
  }
}

/** What is adopted was started by others: it carries what is proven of it. */
function asItRuns(world: Pick<World, 'harnesses'>, argv: readonly string[], { harness: name, nativeId }: Agent): AgentCommand {
  const harness = world.harnesses().find((one) => one.name === name) ?? null
  return { argv, harness, native: harness === null ? null : nativeId, names: [], resumes: true, prompt: null, daemonizes: false, continues: false }
}

type Words = Pick<AgentCommand, 'argv' | 'native' | 'resumes' | 'prompt'>

function beginning(harness: Harness, facts: Facts): Words {
  const { argv: args, prompt } = facts.asked
  const { words: said, id } = startWords(harness, args, randomUUID())
  const about = { native: id, resumes: choosesSession(harness, args) }
  if (prompt === undefined) return { argv: said, ...about, prompt: null }
  const { words, stdin } = headless(harness, { kind: 'start', id }, args, facts)
  return { argv: words, ...about, prompt: stdin }
}

function goingOn(harness: Harness, facts: Facts, native: string, from: readonly string[]): Words {
  const { argv: args, prompt } = facts.asked
  if (facts.begins === 'start') return notYetBegun(harness, facts, native, from)
  const about = { native, resumes: true }
  const said = checked(resumeWords(harness, native, from, args))
  if (prompt === undefined) return { argv: said, ...about, prompt: null }
  const kept = keptWords(harness, from, args, 'headless')
  const { words, stdin } = headless(harness, { kind: 'resume', id: native }, [...kept, ...args], facts)
  return { argv: words, ...about, prompt: stdin }
}

function notYetBegun(harness: Harness, facts: Facts, native: string, from: readonly string[]): Words {
  const { argv: args, prompt } = facts.asked
  const kept = [...keptWords(harness, from, args, prompt === undefined ? 'interactive' : 'headless'), ...args]
  if (prompt === undefined) return { argv: startWords(harness, kept, native).words, native, resumes: false, prompt: null }
  const { words, stdin } = headless(harness, { kind: 'start', id: native }, kept, facts)
  return { argv: words, native, resumes: false, prompt: stdin }
}

type How = Parameters<typeof headlessWords>[1]

/** One prompt, then it ends. A prompt is never part of a shell's words, and comes on stdin where the harness takes it so. */
function headless(harness: Harness, how: How, args: readonly string[], facts: Facts): { words: readonly string[]; stdin: Uint8Array | null } {
  const prompt = checked(facts.prompt())
  const onStdin = harness.speech.headless?.prompt === 'stdin'
  const words = checked(headlessWords(harness, how, args, onStdin ? null : new TextDecoder().decode(prompt)))
  return { words, stdin: onStdin ? prompt : null }
}

export const isInstalled = (world: Pick<World, 'directories' | 'env'>, harness: Harness): boolean => installedAgent(world, harness) !== null
