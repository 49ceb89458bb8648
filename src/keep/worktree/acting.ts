import type { Environment } from '../../model/index.ts'
import { type Answer, runGit, STILL } from './git.ts'

/** Git for acting upon a repository, because a person asked for it: `run --worktree`, `merge`, `discard` and `prune`. Decision 029. */
export type Acting = {
  /** Runs no hook, no fsmonitor and no program of a remote. Filters run only where files are written or compared, which its calls never do. */
  readonly quietly: Act
  /** As the person would: hooks and filters of the repository run. Only for the branch and the files of a new worktree, a merge, and a push. */
  readonly asUser: Act
}
type Act = (dir: string, args: readonly string[], ms?: number) => Promise<Answer>

export function actingGit(env: Environment): Acting {
  const off = ['-c', 'core.fsmonitor=false']
  return {
    quietly: (dir, args, ms) => runGit(env, STILL, ['-C', dir, ...off, '-c', 'core.hooksPath=/dev/null', ...args], ms),
    asUser: (dir, args, ms) => runGit(env, { GIT_OPTIONAL_LOCKS: '0' }, ['-C', dir, ...off, ...args], ms),
  }
}
