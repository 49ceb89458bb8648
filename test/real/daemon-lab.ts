import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { isAlive, type Lab, type Options, readOr, stateOf, until } from './lab.ts'

export type DaemonStatus = {
  pid: number | null
  healthy: boolean
  http: string | null
  parts: { name: string; failures: number; lastError: string | null }[]
  liveness: string
  frozen: boolean
  answered: boolean
  why: string | null
  version: string | null
  startedBy: string | null
  socket: string | null
}

export const folderOf = (lab: Lab): string => join(lab.home, 'daemon')
export const logOf = (lab: Lab): string => readOr(join(folderOf(lab), 'log'))
export const hasLog = (lab: Lab, what: RegExp): Promise<true> =>
  until(`the log to have ${what}:\n${logOf(lab)}`, () => what.test(logOf(lab)) || null).then(() => true)

/** Starts it and answers its pid. */
export async function started(lab: Lab, options: Options = {}): Promise<number> {
  return pidIn(await lab.ok(['daemon', 'start'], options))
}
export const pidIn = (said: string): number => Number(/pid (\d+)/.exec(said)?.[1])

/** Whatever its exit code. */
export async function daemonStatus(lab: Lab, options: Options = {}): Promise<DaemonStatus> {
  const { stdout, stderr } = await lab.hf(['daemon', 'status', '--json'], options)
  expect(stdout, stderr).not.toBe('')
  return JSON.parse(stdout) as DaemonStatus
}

/** Sends a signal to a process that is this lab's own daemon, and to no other. */
export function signal(lab: Lab, pid: number, name: NodeJS.Signals): void {
  const environ = readFileSync(`/proc/${pid}/environ`, 'latin1')
  expect(environ).toContain(`HF_LAB=${lab.env['HF_LAB']}`)
  process.kill(pid, name)
}

export async function frozen(lab: Lab, pid: number): Promise<void> {
  signal(lab, pid, 'SIGSTOP')
  await until('it to be frozen', () => stateOf(pid) === 'T')
}

export const cwdOf = (pid: number): string => readlinkSync(`/proc/${pid}/cwd`)
export const sessionOf = (pid: number): number =>
  Number(
    readOr(`/proc/${pid}/stat`)
      .replace(/^.*\) /, '')
      .split(' ')[3],
  )

/** The living processes of this lab whose command line is like that. */
export const ownOf = (lab: Lab, command: RegExp): number[] =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && readOr(`/proc/${entry}/environ`).includes(`HF_LAB=${lab.env['HF_LAB']}`))
    .filter((entry) => command.test(readOr(`/proc/${entry}/cmdline`).replaceAll('\0', ' ')) && isAlive(Number(entry)))
    .map(Number)

export const daemonsOf = (lab: Lab): number[] => ownOf(lab, / daemon run /)
