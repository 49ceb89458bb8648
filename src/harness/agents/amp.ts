import type { Harness } from '../../model/index.ts'
import { generic } from './generic.ts'

/** Amp; not run: it needs its server, which also has its threads. */
export const amp: Harness = {
  ...generic,
  name: 'amp',
  title: 'Amp',
  commands: ['amp'],
  program: { names: ['amp'], packages: ['@ampcode/cli', '@sourcegraph/amp'] },
  sessionVariables: ['AMP_CURRENT_THREAD_ID', 'AGENT_THREAD_ID'],
  speech: { ...generic.speech, resume: ['threads', 'continue', '{id}', '{args}'], chooses: ['continue'], idAfter: ['continue'] },
}
