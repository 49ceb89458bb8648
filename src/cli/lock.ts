import { callerOf, checkLock, lockByHand, seeLocks, unlockByHand, type World } from '../app/index.ts'
import { exitCode, isPid, Problem } from '../model/index.ts'
import { checkJson, checkText, lockedJson, lockedText, lockJson, locksText, unlockedJson, unlockedText } from '../show/index.ts'
import { noWords, type Parsed } from './options.ts'
import { paintFor, print, printJson } from './out.ts'
import { duration } from './start.ts'

const MAX_REASON = 200

/** `lock D` takes a directory by hand; `lock --check D` only answers whether it is free: 0, held: 75, or neither can be proven: 76. */
export async function lockVerb(world: World, parsed: Parsed): Promise<number> {
  const dir = oneDirectory(parsed, 'lock')
  if (parsed.flags.has('check')) return checkVerb(world, parsed, dir)
  const ttlMs = duration(parsed, 'ttl')
  if (ttlMs === 0)
    throw new Problem('option-value-invalid', '--ttl 0 would end it at once', { hint: 'leave it out to hold it as long as the calling shell lives' })
  const reason = parsed.values.get('reason')
  if (reason !== undefined && reason.length > MAX_REASON) throw new Problem('option-value-invalid', `--reason takes at most ${MAX_REASON} characters`)
  const lock = await lockByHand(world, { dir, reason, pid: pidOf(parsed), ttlMs }, () => callerOf(world))
  if (parsed.flags.has('json')) printJson(lockedJson(lock))
  else print([lockedText(lock)])
  return exitCode.done
}

async function checkVerb(world: World, parsed: Parsed, dir: string): Promise<number> {
  const wrong = ['reason', 'pid', 'ttl'].find((name) => parsed.values.has(name))
  if (wrong !== undefined) throw new Problem('option-misplaced', `--check only asks; it takes no --${wrong}`)
  const check = await checkLock(world, dir)
  if (parsed.flags.has('json')) printJson(checkJson(check))
  else print(checkText(check, world.clock.now()))
  return { free: exitCode.done, held: exitCode.held, unknown: exitCode.unproven }[check.state]
}

function pidOf({ values }: Parsed): number | undefined {
  const text = values.get('pid')
  if (text === undefined) return undefined
  if (/^\d{1,7}$/.test(text) && isPid(Number(text))) return Number(text)
  throw new Problem('option-value-invalid', `--pid takes the pid of a process, not ${JSON.stringify(text)}`)
}

export async function unlockVerb(world: World, parsed: Parsed): Promise<number> {
  const dir = oneDirectory(parsed, 'unlock')
  const freed = await unlockByHand(world, dir, parsed.flags.has('force'))
  if (parsed.flags.has('json')) printJson(freed.map(unlockedJson))
  else print(freed.length === 0 ? [`${dir} is not locked`] : freed.map((one) => unlockedText(one, world.clock.now())))
  return exitCode.done
}

export async function locksVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'locks')
  const locks = await seeLocks(world)
  if (parsed.flags.has('json')) printJson(locks.map(lockJson))
  else print(locksText(locks, world.clock.now(), paintFor(1)))
  return exitCode.done
}

function oneDirectory({ words }: Parsed, verb: string): string {
  const [dir, ...more] = words
  if (dir === undefined || dir === '' || more.length > 0)
    throw new Problem('arguments-wrong', `${verb} takes one directory`, { hint: 'holdfast locks lists those that are held' })
  return dir
}
