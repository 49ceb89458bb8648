import { mkdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { readIfFile, replaceFile, sha256 } from '../../lib/index.ts'
import { type Environment, policy, WORKFLOW_FILE, type WorkflowSource, type Workflows, type WorkflowTrust } from '../../model/index.ts'
import { type Look, lookAt, type Site } from '../worktree/looking.ts'
import { seatOf } from '../worktree/seat.ts'
import type * as Bundle from './bundle.ts'

/**
 * `looks`: a folder of ours, for what a look needs. `home`: where the allowed contents are noted, a file for each repository. `assets`: where the
 * bundle with the parsers lies.
 */
export function workflowFiles(env: Environment, looks: string, home: string, assets: string): Workflows {
  const folder = join(home, 'workflows')
  const bundle = (): typeof Bundle => createRequire(import.meta.url)(join(assets, 'workflow.cjs')) as typeof Bundle
  return {
    read: (repository) => readAtDefaultBranch({ env, folder: looks }, repository),
    parse: (text) => bundle().parseFrontMatter(text),
    render: (template, values) => bundle().renderTemplate(template, values),
    trusted: (repository) => readTrust(join(folder, nameOf(repository)), repository),
    trust: (entry) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      replaceFile(join(folder, nameOf(entry.repository)), `${JSON.stringify(entry)}\n`)
    },
    forget: (repository) => rmSync(join(folder, nameOf(repository)), { force: true }),
  }
}

const nameOf = (repository: string): string => `${sha256(repository)}.json`

async function readAtDefaultBranch(site: Site, repository: string): Promise<WorkflowSource> {
  const seat = seatOf(repository)
  if (typeof seat === 'string') return { kind: 'unknown', why: seat }
  const seen = await lookAt(site, repository, seat, readIn)
  return 'trouble' in seen ? { kind: 'unknown', why: seen.trouble } : seen
}

async function readIn(git: Look): Promise<WorkflowSource> {
  const branch = await defaultBranch(git)
  if (branch === null) return { kind: 'unknown', why: 'it has no default branch with a commit' }
  const resolved = await git(['rev-parse', '--verify', '--quiet', `${branch}^{commit}`])
  if (resolved.kind === 'failed') return { kind: 'unknown', why: resolved.why }
  const commit = resolved.out.trim()
  const name = branch.replace(/^refs\/(?:heads|remotes)\//, '')
  const entry = await git(['ls-tree', '-l', '-z', commit, '--', WORKFLOW_FILE])
  if (entry.kind === 'failed') return { kind: 'unknown', why: entry.why }
  if (entry.out === '') return { kind: 'none', branch: name, commit }
  const [, mode, blob, size] = /^(\d+) blob ([0-9a-f]+) +(\d+)\t/.exec(entry.out) ?? []
  // A link would lead out of the commit.
  if (blob === undefined || mode?.startsWith('100') !== true) return { kind: 'unknown', why: `${WORKFLOW_FILE} is no plain file there` }
  if (Number(size) > policy.workflowBytes) return { kind: 'unknown', why: `${WORKFLOW_FILE} has more than ${policy.workflowBytes} bytes` }
  const text = await git(['cat-file', 'blob', blob])
  return text.kind === 'failed'
    ? { kind: 'unknown', why: text.why }
    : { kind: 'found', branch: name, commit, text: text.out, sha256: sha256(text.out) }
}

/** The default branch of the remote. Without a remote: `main`, `master`, or the branch that is checked out. */
async function defaultBranch(git: Look): Promise<string | null> {
  const remote = await git(['symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD'])
  if (remote.kind === 'done') return remote.out.trim()
  for (const ref of ['refs/remotes/origin/main', 'refs/remotes/origin/master', 'refs/heads/main', 'refs/heads/master'])
    if ((await git(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`])).kind === 'done') return ref
  const head = await git(['symbolic-ref', '--quiet', 'HEAD'])
  return head.kind === 'done' ? head.out.trim() : null
}

/** A file that cannot be read allows nothing. */
function readTrust(path: string, repository: string): WorkflowTrust | null {
  try {
    const entry = JSON.parse(readIfFile(path, policy.smallFileBytes) ?? 'null') as WorkflowTrust | null
    return entry?.repository === repository && typeof entry.sha256 === 'string' && typeof entry.commit === 'string' ? entry : null
  } catch {
    return null
  }
}
