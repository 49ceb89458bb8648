import type { ProblemTable } from '../exit-code.ts'

/** Problems of a start: the session has an owner, or the run could not begin. */
export const START_PROBLEMS = {
  'owner-alive': { kind: 'held', means: 'A live process owns the session.' },
  'owner-unproven': { kind: 'unproven', means: 'The owner of the session cannot be proven dead.' },
  'owner-around-caller': { kind: 'held', means: 'The command runs inside the session that it would have to end.' },
  'tree-alive': { kind: 'held', means: 'Processes of the session live on, although its run has ended on record.' },
  'tree-unproven': { kind: 'unproven', means: 'Processes of the session cannot be proven gone.' },
  'survivors-remain': { kind: 'survivors', means: 'Processes of the session could not be ended, so nothing was started.' },
  'start-cancelled': { kind: 'held', means: 'The session was ended before its agent began.' },
  'front-gone': { kind: 'held', means: 'The foreground command ended before its run was ready.' },
  'parent-ending': { kind: 'held', means: 'The session around the command is ending.' },
  'nesting-too-deep': { kind: 'badCommand', means: 'Too many runs are nested inside each other.' },
  'program-missing': { kind: 'notFound', means: 'The program was not found, or is not executable.' },
  'program-not-started': { kind: 'notFound', means: 'The operating system could not start the program.' },
  'agent-never-appeared': { kind: 'unavailable', means: 'The agent did not appear in time after its start.' },
  'pid-namespace-foreign': { kind: 'unavailable', means: '`/proc` shows another pid namespace than that of the command.' },
  'hook-failed': { kind: 'unavailable', means: 'A hook of the repository failed, so the agent of the request was not started.' },
  'task-outside-session': { kind: 'badCommand', means: 'A task can only be started inside a session.' },
} as const satisfies ProblemTable

/** Problems of `adopt`. */
export const ADOPT_PROBLEMS = {
  'process-missing': { kind: 'notFound', means: 'No live process has this pid.' },
  'process-init': { kind: 'badCommand', means: 'Pid 1 cannot be adopted.' },
  'process-foreign-user': { kind: 'badCommand', means: 'The process belongs to another user.' },
  'process-ancestor': { kind: 'badCommand', means: 'The process started the command that would adopt it.' },
  'process-no-agent': { kind: 'badCommand', means: 'The process is no agent that Holdfast knows.' },
  'process-managed': { kind: 'held', means: 'The process belongs to a session, or carries the marker of another run.' },
  'process-supervised': { kind: 'held', means: 'A supervisor would start the process again.' },
  'process-directory-unknown': { kind: 'unproven', means: 'The working directory of the process cannot be read.' },
} as const satisfies ProblemTable

/** Problems of agents, their prompts and their budgets. */
export const AGENT_PROBLEMS = {
  'agent-unknown': { kind: 'badCommand', means: 'Holdfast does not know an agent of this name.' },
  'agent-not-installed': { kind: 'notFound', means: 'The program of the agent is not on `PATH`.' },
  'agent-needs-terminal': { kind: 'badCommand', means: 'The agent needs a terminal, and a detached run has none.' },
  'prompt-unsupported': { kind: 'badCommand', means: 'The agent takes no prompt from Holdfast here.' },
  'prompt-unreadable': { kind: 'notFound', means: 'The prompt file cannot be read.' },
  'prompt-not-a-file': { kind: 'badCommand', means: 'The prompt file is a directory.' },
  'prompt-empty': { kind: 'badCommand', means: 'The prompt file is empty.' },
  'prompt-too-long': { kind: 'badCommand', means: 'The prompt is longer than the limit.' },
  'prompt-not-text': { kind: 'badCommand', means: 'The prompt contains a NUL byte and cannot be an argument.' },
  'prompt-repeated': { kind: 'badCommand', means: 'A restart would give the agent the same prompt twice.' },
  'budget-unsupported': {
    kind: 'badCommand',
    means: 'The agent does not record its token usage, or its cost where the budget is in dollars, while it works.',
  },
  'budget-conversation-unknown': { kind: 'badCommand', means: 'The token usage cannot be read while the conversation is unknown.' },
} as const satisfies ProblemTable

/** Problems of the conversation that an agent carries. */
export const CONVERSATION_PROBLEMS = {
  'conversation-in-use': { kind: 'held', means: 'A live agent already uses the conversation.' },
  'conversation-owned': { kind: 'held', means: 'Another session owns the conversation.' },
  'conversation-of-other-session': { kind: 'badCommand', means: 'The conversation belongs to another session that has ended.' },
  'conversation-unproven': { kind: 'unproven', means: 'A live agent may carry the conversation: which one it carries is not known.' },
  'conversation-newest-in-use': { kind: 'held', means: 'The newest conversation of the directory may belong to a live agent.' },
  'conversation-unknown': { kind: 'notFound', means: 'Holdfast does not know which conversation the session carried.' },
  'conversation-missing': { kind: 'notFound', means: 'The agent has no such conversation.' },
  'conversation-ambiguous': { kind: 'badCommand', means: 'Several conversations begin with this text, or several agents have one with this id.' },
  'conversation-elsewhere': { kind: 'badCommand', means: 'The agent finds the conversation only in its former directory.' },
  'conversation-directory-unknown': { kind: 'badCommand', means: 'The directory of the conversation is not known.' },
  'conversation-would-be-left': { kind: 'badCommand', means: 'The session has a conversation, and the start would leave it for a new one.' },
  'takeover-without-conversation': {
    kind: 'held',
    means: 'A takeover would end the owner, and could not go on with its conversation.',
  },
  'resume-unsupported': { kind: 'badCommand', means: 'The agent cannot resume a conversation by its id.' },
} as const satisfies ProblemTable
