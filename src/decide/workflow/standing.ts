import { WORKFLOW_FILE, type WorkflowSource, type WorkflowTrust } from '../../model/index.ts'

/** Whether a repository's own file may decide what runs here. */
export type WorkflowStanding =
  /** There is no file, so the defaults hold. */
  | { readonly kind: 'default' }
  | { readonly kind: 'allowed'; readonly text: string; readonly sha256: string }
  /** No new request of the repository begins. Running work goes on. */
  | {
      readonly kind: 'blocked'
      readonly reason: 'workflow-untrusted' | 'workflow-changed' | 'workflow-removed' | 'workflow-unknown'
      readonly why: string
    }

/** A person allows a content, not a name: a commit that changes the file needs a new word. */
export function judgeWorkflow(source: WorkflowSource, trust: WorkflowTrust | null, repository: string): WorkflowStanding {
  if (source.kind === 'unknown')
    return { kind: 'blocked', reason: 'workflow-unknown', why: `${WORKFLOW_FILE} of ${repository} cannot be read: ${source.why}` }
  if (source.kind === 'none') {
    if (trust === null) return { kind: 'default' }
    // Someone took hooks and limits away that a person had counted on.
    return {
      kind: 'blocked',
      reason: 'workflow-removed',
      why: `${WORKFLOW_FILE} is gone from ${source.branch} of ${repository}, although a person allowed one`,
    }
  }
  if (trust?.sha256 === source.sha256) return { kind: 'allowed', text: source.text, sha256: source.sha256 }
  const where = `${WORKFLOW_FILE} of ${repository} (${source.branch} at ${source.commit.slice(0, 12)})`
  return trust === null
    ? { kind: 'blocked', reason: 'workflow-untrusted', why: `${where} decides what runs on this machine. It was not allowed yet` }
    : { kind: 'blocked', reason: 'workflow-changed', why: `${where} differs from the one that was allowed at ${trust.commit.slice(0, 12)}` }
}
