import type { ProblemTable } from '../exit-code.ts'

/** Problems of the store. */
export const STORE_PROBLEMS = {
  'sqlite-missing': { kind: 'unavailable', means: 'No safe version of SQLite is available.' },
  'store-busy': { kind: 'unavailable', means: 'Another command holds the store.' },
  'store-full': { kind: 'unavailable', means: 'The disk of the store is full.' },
  'store-damaged': { kind: 'unavailable', means: 'The file of the store is damaged.' },
  'store-unusable': { kind: 'unavailable', means: 'The store cannot be opened, read or written.' },
  'store-not-sqlite': { kind: 'unavailable', means: 'The file of the store is not a SQLite database.' },
  'store-foreign': { kind: 'unavailable', means: 'The database belongs to another program.' },
  'store-replaced': { kind: 'unavailable', means: 'Another file took the place of the store while a command used it.' },
  'store-newer': { kind: 'unavailable', means: 'A newer Holdfast wrote the store.' },
} as const satisfies ProblemTable

/** Problems of the home folder and its configuration. */
export const HOME_PROBLEMS = {
  'home-foreign-user': { kind: 'unavailable', means: 'The home belongs to another user.' },
  'home-on-network': { kind: 'unavailable', means: 'The home is on a network file system, where locks do not hold.' },
  'home-not-holdfast': { kind: 'unavailable', means: 'The folder holds files of other programs.' },
  'home-unusable': { kind: 'unavailable', means: 'The home, or a file in it, cannot be created, read or written.' },
  'home-gone': { kind: 'unavailable', means: 'The home was removed or replaced.' },
  'config-invalid': { kind: 'badCommand', means: '`config.toml` has an error.' },
} as const satisfies ProblemTable
