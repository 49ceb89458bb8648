import type { Environment } from './environment.ts'

/** Who says to be the command that waits for us; an inherited word names another than our parent. */
export function frontPid(env: Environment): number | null {
  const [said] = /^\d+/.exec(env['HOLDFAST_FRONT'] ?? '') ?? []
  return said === undefined ? null : Number(said)
}
