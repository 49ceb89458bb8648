import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { LINEAGE_VARIABLE, Problem } from '../model/index.ts'
import { newMarker } from './launch.ts'
import type { World } from './world.ts'

/**
 * An agent that stops its own session cannot see it through. A stopper with its own marker, in its own session, whose parent has
 * already left, does it from outside.
 */
export function stopFromOutside(world: World, session: string, graceMs: number | undefined): Promise<number> {
  const command = [process.execPath, join(world.assets, 'cli.cjs'), 'stop', session, '--home', world.home]
  if (graceMs !== undefined) command.push('--grace', `${graceMs}ms`)
  const marked = world.keepers.markerTrouble() === null ? ['prlimit', `--rttime=${newMarker()}:`, ...command] : command
  const env = { ...world.env }
  for (const name of [LINEAGE_VARIABLE, 'HOLDFAST_RUN', 'HOLDFAST_SESSION', 'HOLDFAST_EPOCH', 'HOLDFAST_FENCE']) delete env[name]
  return new Promise((resolve, reject) => {
    // The shell leaves at once, so the stopper is no descendant of anybody in the tree when it begins.
    const shell = spawn('/bin/sh', ['-c', '"$@" </dev/null >/dev/null 2>&1 & echo $!', 'sh', ...marked], {
      cwd: '/',
      detached: true,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let pid = ''
    shell.stdout.on('data', (chunk: Buffer) => {
      pid += chunk.toString('latin1')
    })
    shell.once('error', (error) => reject(new Problem('unavailable', 'could not start a stopper outside the session', { cause: error })))
    shell.once('close', () => resolve(Number(pid)))
  })
}
