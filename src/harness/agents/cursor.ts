import type { Harness } from '../../model/index.ts'
import { generic } from './generic.ts'

/** Cursor's agent; from its documents, not run. It makes its own ids, with a command of its own. */
export const cursor: Harness = {
  ...generic,
  name: 'cursor-agent',
  title: "Cursor's agent",
  commands: ['cursor-agent'],
  program: { names: ['cursor-agent'], packages: ['cursor-agent/versions'], idle: ['worker'] },
  speech: { ...generic.speech, resume: ['--resume', '{id}', '{args}'], chooses: ['--resume'], idAfter: ['--resume'] },
  sessionVariables: ['CURSOR_AGENT', 'CURSOR_CONVERSATION_ID', 'CURSOR_REQUEST_ID'],
}
