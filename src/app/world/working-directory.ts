import { Problem } from '../../model/index.ts'

/** Where the caller works. Worktrees get deleted under people. */
export function currentDirectory(hint: string): string {
  try {
    return process.cwd()
  } catch (error) {
    throw new Problem('directory-missing', 'the current directory no longer exists', { hint, cause: error })
  }
}
