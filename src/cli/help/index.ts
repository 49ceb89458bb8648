import type { Command } from '../command.ts'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { overviewText, verbText } from './text.ts'
import { zshScript } from './zsh.ts'

/** A bundle of its own (help.cjs), loaded for help and completion: no other verb pays for it. */
export type Texts = {
  overviewText(table: readonly Command[]): string
  verbText(command: Command): string
  readonly scripts: Readonly<Record<'bash' | 'zsh' | 'fish', (table: readonly Command[]) => string>>
}

export const texts: Texts = { overviewText, verbText, scripts: { bash: bashScript, zsh: zshScript, fish: fishScript } }
