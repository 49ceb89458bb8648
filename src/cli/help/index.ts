import type { ShellAgent } from '../../app/index.ts'
import type { Command } from '../command.ts'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { shellInits } from './shell-init.ts'
import { overviewText, verbText } from './text.ts'
import { zshScript } from './zsh.ts'

/** A bundle of its own (help.cjs), loaded for help and completion: no other verb pays for it. */
export type Texts = {
  overviewText(table: readonly Command[]): string
  verbText(command: Command): string
  readonly shellInits: Readonly<Record<'bash' | 'zsh' | 'fish', (agents: readonly ShellAgent[]) => string>>
  readonly scripts: Readonly<Record<'bash' | 'zsh' | 'fish', (table: readonly Command[]) => string>>
}

export const texts: Texts = { overviewText, verbText, shellInits, scripts: { bash: bashScript, zsh: zshScript, fish: fishScript } }
