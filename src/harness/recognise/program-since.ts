import { readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { orNull, readKernel } from '../../lib/index.ts'
import { MS_PER_TICK } from '../../model/index.ts'
import { ticksOf } from './flocks.ts'

/**
 * Which process a pid means that was written down at a time without the start of its process: only a process of that program that was there by
 * then. Its start in ticks, or null.
 */
export function programSince(pid: number, program: RegExp, at: number): number | null {
  const ticks = ticksOf(pid)
  const name = orNull(() => basename(readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '')))
  if (ticks === null || name === null || !program.test(name)) return null
  return (startedAt(ticks) ?? Number.NaN) <= at && ticksOf(pid) === ticks ? ticks : null
}

/** The time of the boot is told in whole seconds. */
function startedAt(ticks: number): number | null {
  const boot = /^btime (\d+)$/m.exec(readKernel('/proc/stat') ?? '')?.[1]
  return boot === undefined ? null : Number(boot) * 1000 + ticks * MS_PER_TICK
}
