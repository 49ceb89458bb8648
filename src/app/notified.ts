import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The number of the last event that people were told of, or need not be; null: nobody has looked yet. */
export function readNotified(home: string): number | null {
  try {
    // A pipe would keep us waiting for its other end.
    if (!lstatSync(pathIn(home)).isFile()) return null
    const seq = /^1 (\d{1,15})\n$/.exec(readFileSync(pathIn(home), 'latin1'))?.[1]
    return seq === undefined ? null : Number(seq)
  } catch {
    return null
  }
}

export function writeNotified(home: string, seq: number): void {
  mkdirSync(join(home, 'daemon'), { recursive: true, mode: 0o700 })
  writeFileSync(`${pathIn(home)}.${process.pid}`, `1 ${seq}\n`, { mode: 0o600 })
  renameSync(`${pathIn(home)}.${process.pid}`, pathIn(home))
}

const pathIn = (home: string): string => join(home, 'daemon', 'notified')
