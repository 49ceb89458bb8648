import { newWorkerMemory, openWorld, sourcesPass, type WorkerMemory, type World, workPass, worlds } from '../../app/index.ts'
import { exitCode, policy } from '../../model/index.ts'
import { sourceText, workPassJson, workPassText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { flag, noWords, type Parsed } from '../options.ts'
import { print, printJson, say } from '../out.ts'

export const worker: Command = {
  name: 'worker',
  group: 'work',
  summary: 'work on requests in the foreground, as the daemon does',
  arguments: [],
  options: [],
  subs: [
    {
      name: 'run',
      summary: 'start agents for requests and see them to their end; Ctrl-C ends the worker, and no agent',
      arguments: [],
      options: [flag('once', 'make one pass over everything that is due, and wait for nothing')],
      run,
    },
  ],
  more: () => ({
    description: [
      'A worker takes requests from the queue, starts their agents, and records how they end.',
      'The daemon does the same, so worker run is for those without one.',
      'Agents live on when a worker ends. The next worker finds them and goes on.',
      'Several workers may run at once: each request is claimed once.',
    ],
    examples: [
      ['worker run', 'The worker runs until Ctrl-C.'],
      ['worker run --once', 'A timer or a script makes a single pass.'],
    ],
    exits: { done: 'the passes were made', unavailable: 'the store or config.toml cannot be used' },
  }),
}

async function run(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'worker run')
  const memory = newWorkerMemory()
  return parsed.flags.has('once') ? once(world, memory, parsed.flags.has('json')) : untilEnded(world, memory)
}

/** What sources want comes first, so that it is begun in the same pass. What came of it is told to them last. */
async function once(world: World, memory: WorkerMemory, json: boolean): Promise<number> {
  await sourcesPass(world, memory)
  const pass = await workPass(world, memory)
  const sources = await sourcesPass(world, memory)
  if (json) printJson(workPassJson(pass, sources))
  else print(workPassText(pass, sources))
  return exitCode.done
}

/** Requests and sources go on apart from each other: a source that does not answer holds up nothing. */
async function untilEnded({ assets, home, clock, directories }: World, memory: WorkerMemory): Promise<number> {
  let isOver = false
  const over = new Promise<void>((resolve) => {
    const end = (): void => {
      isOver = true
      resolve()
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end)
  })
  // Everything may change meanwhile, so each pass looks anew. A home that is gone is not made again.
  const opened = worlds(() => openWorld({ assets, home }))
  const told = new Map<string, string>()
  const tellOnce = (about: string, line: string): void => {
    if (told.get(about) !== line) tell(line)
    told.set(about, line)
  }
  const keepGoing = async (name: string, body: (world: World) => Promise<void>): Promise<void> => {
    while (!isOver && directories.exists(home)) {
      await opened.use(body).then(
        () => told.delete(name),
        (error: unknown) => tellOnce(name, error instanceof Error ? error.message : String(error)),
      )
      if (!isOver) await Promise.race([clock.sleep(policy.workPaceMs), over])
    }
  }
  tell('working on requests; Ctrl-C ends the worker, and its agents go on')
  await Promise.all([
    keepGoing('pass', async (world) => {
      const { changes, troubles } = await workPass(world, memory)
      for (const line of changes) tell(line)
      for (const { request, step, why } of troubles)
        tellOnce(`${request} ${step}`, `${request === null ? '' : `${request}: `}${step}: ${why}; it is tried again`)
    }),
    keepGoing('sources', async (world) => {
      for (const { name, health } of await sourcesPass(world, memory)) tellOnce(`source ${name}`, sourceText(name, health))
    }),
  ])
  tell('ended')
  return exitCode.done
}

const tell = (line: string): void => say(`worker: ${line}`)
