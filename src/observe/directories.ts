import { findProgram } from '../lib/index.ts'
import type { Directories } from '../model/index.ts'
import { findDirectory, keyAt, lookForDirectory, workplaceOf } from './directory.ts'
import { sharedFileSystem } from './filesystem.ts'
import { mountedBelow, readMounts } from './mounts.ts'
import { birthOf, entriesOf, isThereAtAll, realPathOf } from './read.ts'
import { branchFinder, branchOf, mainOf, repositoryScout } from './repository.ts'

/** `worktreesFolder`: a folder whose entries are apart from everything around them (our own worktrees). */
export const realDirectories = (worktreesFolder: string): Directories => ({
  find: (path, mounts = readMounts()) => findDirectory(path, worktreesFolder, mounts),
  look: (path, mounts) => lookForDirectory(path, worktreesFolder, mounts),
  mounts: readMounts,
  mountedBelow,
  keyAt,
  workplace: workplaceOf,
  exists: isThereAtAll,
  realPath: realPathOf,
  entries: entriesOf,
  bornAt: birthOf,
  sharedFileSystem,
  program: findProgram,
  branch: branchOf,
  mainWorktree: mainOf,
  branchFinder,
  repositoryScout,
})
