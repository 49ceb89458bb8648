import type { Uninstalled } from '../model/index.ts'
import { hookChangeText } from './hooks.ts'
import { type Page, tilde, WIDE } from './page.ts'
import { plain } from './paint.ts'
import { removedText } from './service.ts'

/** What was taken out, what could not be, and what is left for a person to keep or to remove. */
export function uninstalledText({ hooks, service, daemon, completions, left, trouble }: Uninstalled, page: Page = WIDE): string[] {
  const done = [
    ...hooks.flatMap(hookChangeText),
    ...(service === null ? [] : removedText(service)),
    ...(daemon === null ? [] : [`the daemon was stopped (pid ${daemon})`]),
    ...completions.map((path) => `removed ${plain(path)}`),
  ]
  return [
    ...(done.length === 0 ? ['nothing was installed outside the home'] : done),
    ...trouble.flatMap(({ message, hint }) => [`not done: ${plain(message)}`, ...(hint === null ? [] : [`  ${plain(hint)}`])]),
    ...left.map(({ what, path }) => `left: ${plain(path)} (${plain(what)})`),
    'next: npm uninstall --global holdfast removes the command; what is left is yours to keep or to remove',
  ].map((line) => tilde(line, page))
}
