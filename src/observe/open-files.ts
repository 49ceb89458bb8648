import { readdirSync, readlinkSync } from 'node:fs'
import { orNull, readKernel } from '../lib/index.ts'

const MAX_FILES = 4000
const MAX_THREADS = 256

/** The kernel lists them by the thread that made them. */
export const childrenOf = (pid: number): number[] =>
  namesIn(`/proc/${pid}/task`)
    .slice(0, MAX_THREADS)
    .flatMap((thread) => (readKernel(`/proc/${pid}/task/${thread}/children`) ?? '').split(' ').map(Number))
    .filter((child) => child > 0)

/** Who only reads a file may have opened it for a moment, to show it. */
export const writtenBy = (pid: number, path: RegExp): string[] =>
  namesIn(`/proc/${pid}/fd`)
    .slice(0, MAX_FILES)
    .flatMap((fd) => {
      const target = orNull(() => readlinkSync(`/proc/${pid}/fd/${fd}`))
      return target !== null && path.test(target) && isForWriting(readKernel(`/proc/${pid}/fdinfo/${fd}`) ?? '') ? [target] : []
    })

const namesIn = (folder: string): string[] => orNull(() => readdirSync(folder)) ?? []

/** The last octal digit of its flags has the access mode: 1 and 2 may write. */
const isForWriting = (info: string): boolean => /^flags:\s*[0-7]*[1256]$/m.test(info)
