import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { type HookHelp, hear, homePath, openHookWorld, readAll } from '../app/index.ts'
import { exitCode, plainLines, plainParagraph } from '../model/index.ts'
import { faultOf } from '../show/index.ts'

/** A payload may carry a whole prompt, or a file that is to be written. */
const MAX_PAYLOAD = 64 * 1024 * 1024

/** cli.cjs, as far as hooks need it: a bundle of its own, so that most calls do not load it. */
type Bundle = { openHookHelp(home: string): HookHelp }

/** One call of a hook: `hook.cjs HARNESS EVENT`, with the payload on stdin. Failures must not hold up an agent. */
async function main([harness = '', event = '']: readonly string[]): Promise<number> {
  const loadHelp = (home: string): HookHelp => (require(join(__dirname, 'cli.cjs')) as Bundle).openHookHelp(home)
  if (event === 'plain') return tellPlain(loadHelp(homePath(undefined, process.env)), harness)
  const world = openHookWorld(process.env, loadHelp)
  if (world === null) return 0
  try {
    const { stdout, stderr, status = 0 } = await hear(world, { harness, event, payload: payloadFrom(event === 'record' ? null : stdin()) })
    if (stdout !== undefined) writeSync(1, `${plainLines(stdout).join('\n')}\n`)
    if (stderr !== undefined) writeSync(2, `${plainLines(stderr).join('\n')}\n`)
    return status
  } finally {
    world.close()
  }
}

/** An agent that Holdfast did not start is given a prompt. */
async function tellPlain(help: HookHelp, harness: string): Promise<number> {
  try {
    const said = await help.warnPlain(harness, payloadFrom(stdin()))
    if (said !== null) writeSync(1, `${plainLines(said).join('\n')}\n`)
    return 0
  } finally {
    help.close()
  }
}

/** Null: there is none, or it is too long. */
function stdin(): Uint8Array | null {
  try {
    return readAll(0, MAX_PAYLOAD)
  } catch {
    return null
  }
}

/** Empty, where nobody can say who calls. */
function payloadFrom(bytes: Uint8Array | null): Record<string, unknown> {
  try {
    const value = JSON.parse(new TextDecoder().decode(bytes ?? new Uint8Array())) as unknown
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    // A fault of the world must not disturb the agent. (By its name: the Problem of cli.cjs is another class.)
    if ((error as Error).name === 'Problem' || faultOf(error) !== null) return
    writeSync(2, `holdfast hook: ${plainParagraph(`a bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)}\n`)
    process.exitCode = exitCode.bug
  },
)
