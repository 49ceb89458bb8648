import { statSync } from 'node:fs'
import { join } from 'node:path'

/** Once in so many times it is looked for real, whatever the stamp says. */
const TIMES = 30

/** Tells whether the store may have been written to since it was last read: opening it to find nothing costs more than all the rest. */
export type StoreWatch = {
  isNew(home: string): boolean
  /** What was there when it was asked has been read. */
  settle(): void
}

export function storeWatch(): StoreWatch {
  let read = ''
  let seen = ''
  let times = 0
  return {
    isNew(home) {
      seen = stampOf(home)
      times++
      return seen !== read || times >= TIMES
    },
    settle() {
      read = seen
      times = 0
    },
  }
}

const stampOf = (home: string): string =>
  ['holdfast.db', 'holdfast.db-wal']
    .map((name) => statSync(join(home, name), { throwIfNoEntry: false }))
    .map((stat) => (stat === undefined ? '-' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`))
    .join(' ')
