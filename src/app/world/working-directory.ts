import { Problem } from '../../model/index.ts'
import type { World } from './world.ts'

/** Where the caller works. Worktrees get deleted under people. */
export function currentDirectory({ own }: Pick<World, 'own'>, hint: string): string {
  try {
    return own.workingDirectory()
  } catch (error) {
    throw new Problem('directory-missing', 'the current directory no longer exists', { hint, cause: error })
  }
}
