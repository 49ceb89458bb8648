import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMAND, gone, type Lab, readOr, until } from './lab.ts'

/** A second local user. Root alone can be two users. */
export const OTHER_USER = 65_534
export const isRoot = process.getuid?.() === 0
export const AS_OTHER = ['setpriv', '--reuid', String(OTHER_USER), '--regid', String(OTHER_USER), '--clear-groups']

/** A command that does what `holdfast` does where no cgroup can be seen. */
export function withoutCgroup(lab: Lab): string {
  const path = join(lab.agentDir, 'holdfast-without-cgroup')
  writeFileSync(path, `#!/bin/sh\nexec unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' sh ${COMMAND} "$@"\n`)
  chmodSync(path, 0o755)
  return path
}

/** A program that becomes any user as a whole, whoever starts it, as sudo does: its arguments are those of setpriv. */
export function becomingRoot(lab: Lab): string {
  const folder = lab.newDir()
  chmodSync(folder, 0o755)
  copyFileSync('/usr/bin/setpriv', join(folder, 'become'))
  chmodSync(join(folder, 'become'), 0o4755)
  return join(folder, 'become')
}

/** Another user's process, started by the test and ended with it. It may carry any marker: everybody can read and set one. */
export async function ofOtherUser(marker: string, body: (pid: number) => Promise<void>): Promise<void> {
  await running(
    spawn(AS_OTHER[0] ?? '', [...AS_OTHER.slice(1), 'prlimit', `--rttime=${marker}:`, 'sleep', '1000'], { stdio: 'ignore', cwd: '/' }),
    body,
  )
}

/** A process of this user that nobody's run started. */
export async function ofNobody(marker: string, env: NodeJS.ProcessEnv, body: (pid: number) => Promise<void>): Promise<void> {
  await running(spawn('prlimit', [`--rttime=${marker}:`, 'sleep', '1000'], { stdio: 'ignore', cwd: '/', env, detached: true }), body)
}

async function running(child: ChildProcess, body: (pid: number) => Promise<void>): Promise<void> {
  const pid = child.pid ?? 0
  try {
    await until('it to sleep', () => readOr(`/proc/${pid}/comm`).trim() === 'sleep')
    await body(pid)
  } finally {
    child.kill('SIGKILL')
    await gone(pid)
  }
}

export const markerOf = (pid: number): string => /Max realtime timeout\s+(\d+)/.exec(readOr(`/proc/${pid}/limits`))?.[1] ?? ''
export const parentOf = (pid: number): number => Number(/\) \S (\d+) /.exec(readOr(`/proc/${pid}/stat`))?.[1])
