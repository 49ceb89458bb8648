import type { WorkOrder } from '../../model/index.ts'

export type PromptFacts = {
  readonly id: string
  readonly order: Pick<WorkOrder, 'title' | 'text'>
  readonly branch: string
  /** The repository's own words, filled in; null: the default ones. */
  readonly own: string | null
  /** The agent goes on with the conversation of an earlier attempt. */
  readonly resumed: boolean
  /** The end of the attempt before; null: this is the first. */
  readonly before: string | null
  readonly feedback: readonly { readonly by: string; readonly text: string }[]
}

/** The words that a request's agent starts with. A conversation that goes on is not given its task again. */
export function workPrompt(facts: PromptFacts): string {
  const { id, order, branch, own, resumed, before, feedback } = facts
  const task = own ?? `You work on request ${id}, in a git worktree of its own, on the branch ${branch}.\n\n${taskText(order)}`
  const parts = [
    ...(resumed ? [] : [task]),
    ...(feedback.length === 0 ? [] : [`This was said about the work so far:\n\n${feedback.map(feedbackText).join('\n\n')}`]),
    ...(before === null ? [] : [`The attempt before this one ended: ${before}\nLook at what the branch has already, and go on from there.`]),
    closing(id, branch),
  ]
  return `${parts.join('\n\n')}\n`
}

/** A title that begins the text is not said twice. */
const taskText = ({ title, text }: PromptFacts['order']): string => (text.trimStart().startsWith(title) ? text : `# ${title}\n\n${text}`)

const feedbackText = ({ by, text }: { readonly by: string; readonly text: string }): string => `From ${by}:\n${text}`

const closing = (id: string, branch: string): string =>
  [
    `When the work is done, commit it on ${branch}. Leave nothing running.`,
    `Then tell its result in a sentence: holdfast work finish ${id} --summary "TEXT"`,
  ].join('\n')
