import type { Harness } from '../../model/index.ts'
import { generic } from './generic.ts'

/** Aider; from its documents, not run. Its history lies in the directory: there are no sessions, and no ids. */
export const aider: Harness = {
  ...generic,
  name: 'aider',
  title: 'Aider',
  commands: ['aider'],
  program: { names: ['aider'], works: ['-v'] },
}
