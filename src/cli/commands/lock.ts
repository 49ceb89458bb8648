import { callerOf, checkLock, lockByHand, type World } from '../../app/index.ts'
import { exitCode, isPid, Problem } from '../../model/index.ts'
import { checkJson, checkText, lockedJson, lockedText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { oneDirectory } from '../one-directory.ts'
import { flag, type Parsed, value } from '../options.ts'
import { print, printJson } from '../out.ts'
import { duration } from '../values.ts'

const MAX_REASON = 200

export const lock: Command = {
  name: 'lock',
  group: 'directories',
  summary: 'hold a directory by hand, or ask whether it is free',
  forms: ['[OPTION…] D', '--check D'],
  arguments: [{ name: 'D', thing: 'directory', about: 'the directory, with all that is above and below it' }],
  options: [
    value('reason', 'TEXT', 'text', 'say why, in 200 characters at most'),
    value('pid', 'PID', 'pid', 'hold it as long as this process lives'),
    value('ttl', 'DURATION', 'text', 'hold it for this time at most; clock changes have no effect'),
    flag('check', 'only ask: take no lock'),
  ],
  more: () => ({
    description: [
      'Holds a directory as long as the shell that called lives; timeout, sudo or xargs in between do not count.',
      'With --pid the lock lasts as long as that process, with --ttl until that time or until unlock; with both, until the earlier end.',
      'A directory above or below a held one is held too; linked worktrees of one repository are apart.',
      'With --check it answers only, and --json gives dir, state, own, why, relation, worksIn and holder.',
    ],
    examples: [
      ['lock . --reason "release by hand"', 'No agent starts here while this shell lives.'],
      ['lock --check src && make', 'Another tool asks before it writes.'],
      ['lock data --ttl 30m', 'The directory is held for half an hour.'],
    ],
    exits: {
      done: 'the directory is held now; with --check: it is free',
      notFound: 'no such directory or process',
      held: 'a live owner holds it and is named',
      unproven: 'whether it is held cannot be told',
    },
  }),
  run: lockVerb,
}

async function lockVerb(world: World, parsed: Parsed): Promise<number> {
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
