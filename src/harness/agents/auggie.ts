import type { Harness } from '../../model/index.ts'
import { generic } from './generic.ts'

/** Auggie; not run to the end: it needs its cloud. */
export const auggie: Harness = {
  ...generic,
  name: 'auggie',
  title: 'Auggie',
  commands: ['auggie'],
  program: { names: ['auggie'], packages: ['@augmentcode/auggie'] },
  sessionVariables: ['AUGMENT_CONVERSATION_ID', 'AUGMENT_AGENT'],
}
