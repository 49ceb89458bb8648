import type { Directory } from '../lock.ts'

/** A mount as this process sees it. `device` is the number that stat gives. */
export type Mount = { readonly device: string; readonly root: string; readonly at: string }

/** The directory that a process works in. `deleted` comes from the kernel, not from the name. */
export type Workplace = { readonly key: string; readonly path: string; readonly deleted: boolean }

/** Directories and files of the machine, as they are now. */
export interface Directories {
  /** The directory at a path. Throws a Problem where none can be entered. */
  find(path: string, mounts?: readonly Mount[]): Directory
  /** The same, or null where none can be entered. */
  look(path: string, mounts: readonly Mount[]): Directory | null
  mounts(): readonly Mount[]
  mountedBelow(path: string, mounts: readonly Mount[]): string[]
  /** The key of the file or directory at a path; null: nothing is there. */
  keyAt(path: string): string | null
  /** Null: the process is gone, or may not be looked at. */
  workplace(pid: number): Workplace | null
  exists(path: string): boolean
  /** The path without links; a path that leads nowhere stays as it is. */
  realPath(path: string): string
  /** The entries of a folder, as paths; none where it cannot be read. */
  entries(folder: string): string[]
  /** When a file was made, in milliseconds; null: unknown. */
  bornAt(path: string): number | null
  /** The kind of file system, if another machine may write to it; null: only this machine can. */
  sharedFileSystem(path: string): string | null
  /** The executable file that a shell in `dir` finds; null: none. */
  program(name: string, dir: string, path: string | undefined): string | null
  /** The branch that a working tree is on; null: none, or unknown. */
  branch(root: string): string | null
  /** The working tree that a linked one belongs to, or the bare repository itself. */
  mainWorktree(root: string): string | null
  /** Tells cheaply whether a directory may lie in a repository by now. */
  repositoryScout(): (path: string) => boolean
  /** Finds branches of many directories, and looks at each folder once. */
  branchFinder(): (path: string) => string | null
}
