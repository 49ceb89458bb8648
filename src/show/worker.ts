import type { SourceHealth } from '../model/index.ts'

type Pass = {
  readonly changes: readonly string[]
  readonly troubles: readonly { readonly request: string | null; readonly step: string; readonly why: string }[]
  readonly counts: Readonly<Record<string, number>>
}
type SourceState = { readonly name: string; readonly health: SourceHealth; readonly counts: object | null }

/** The lines of one pass of a worker; none, if nothing changed. */
export function workPassText({ changes, troubles }: Pass, sources: readonly SourceState[]): readonly string[] {
  return [
    ...changes,
    ...troubles.map(({ request, step, why }) => `${request === null ? '' : `${request}: `}${step}: ${why}; it is tried again`),
    ...sources.flatMap(({ name, health }) => (health.state === 'ok' ? [] : [sourceText(name, health)])),
  ]
}

/** The trouble of a source, in a line. */
export const sourceText = (name: string, { state, cause, failures }: SourceHealth): string =>
  state === 'ok'
    ? `source ${name} is well`
    : `source ${name} is ${state}: ${cause ?? 'no reason is known'}${failures > 1 ? ` (${failures} times)` : ''}; it is tried again`

export const workPassJson = ({ changes, troubles, counts }: Pass, sources: readonly SourceState[]): Record<string, unknown> => ({
  changes,
  troubles,
  requests: counts,
  sources: sources.map(({ name, health: { state, cause, failures, succeededAt }, counts: taken }) => ({
    name,
    state,
    cause,
    failures,
    succeeded: succeededAt !== null,
    counts: taken,
  })),
})
