import type { DaemonHealth, PartHealth } from '../model/index.ts'

type Labels = Readonly<Record<string, string>>
export type Reading = { readonly labels: Labels; readonly value: number }
/** Everything that is measured under one name. */
export type Family = { readonly name: string; readonly type: 'gauge' | 'counter'; readonly help: string; readonly readings: readonly Reading[] }

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The text format of Prometheus, 0.0.4. What has no reading is left out. */
export const metricsText = (families: readonly Family[]): string =>
  families
    .filter(({ readings }) => readings.length > 0)
    .map(({ name, type, help, readings }) =>
      [
        `# HELP ${name} ${escapedHelp(help)}`,
        `# TYPE ${name} ${type}`,
        ...readings.map((one) => `${name}${labelsText(one.labels)} ${valueText(one.value)}`),
        '',
      ].join('\n'),
    )
    .join('')

const escapedHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapedLabel = (text: string): string => escapedHelp(text).replaceAll('"', '\\"')

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapedLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const valueText = (value: number): string => {
  if (Number.isNaN(value)) return 'NaN'
  if (Number.isFinite(value)) return String(value)
  return value > 0 ? '+Inf' : '-Inf'
}

export type DaemonFacts = {
  readonly version: string
  readonly protocol: number
  readonly startedAt: number
  readonly now: number
  readonly health: DaemonHealth
  readonly cpuSeconds: number
  readonly residentBytes: number
  /** Null: the store could not be asked. */
  readonly sessions: readonly { readonly state: string; readonly harness: string | null; readonly count: number }[] | null
  readonly requests: readonly { readonly route: string; readonly code: number; readonly count: number }[]
}

/** What there is to measure about a daemon. Times are in seconds, as is the custom. */
export function daemonMetrics(facts: DaemonFacts): Family[] {
  const { health, now, startedAt, sessions } = facts
  const { parts } = health
  const one = (value: number, labels: Labels = {}): Reading[] => [{ labels, value }]
  const gauge = (name: string, help: string, readings: readonly Reading[]): Family => ({ name, type: 'gauge', help, readings })
  const counter = (name: string, help: string, readings: readonly Reading[]): Family => ({ name, type: 'counter', help, readings })
  return [
    gauge('holdfast_up', 'The daemon answers.', one(1)),
    gauge('holdfast_build_info', 'Which daemon it is.', one(1, { version: facts.version, protocol: String(facts.protocol) })),
    gauge('holdfast_healthy', 'No part of it fails: 1, else 0.', one(health.healthy ? 1 : 0)),
    gauge('holdfast_uptime_seconds', 'How long it has lived.', one(Math.max(0, now - startedAt) / 1000)),
    gauge(
      'holdfast_part_last_success_timestamp_seconds',
      'When a part last did a good round.',
      ofParts(parts, ({ lastSuccess }) => seconds(lastSuccess)),
    ),
    gauge(
      'holdfast_part_failures',
      'How often a part has failed in a row.',
      ofParts(parts, ({ failures }) => failures),
    ),
    gauge(
      'holdfast_part_next_try_timestamp_seconds',
      'When a part does its next round; absent while it is at work.',
      ofParts(parts, ({ nextTry }) => seconds(nextTry)),
    ),
    gauge('holdfast_part_count', 'What a part counted in its last good round.', parts.flatMap(countsOf)),
    gauge('holdfast_sessions_readable', 'The store could be asked for sessions: 1, else 0.', one(sessions === null ? 0 : 1)),
    gauge(
      'holdfast_sessions',
      'Live sessions by the state of their run and the kind of their agent.',
      (sessions?.length === 0 ? [NO_SESSION] : (sessions ?? [])).map(({ count, state, harness }) => ({
        labels: { state, harness: harness ?? '' },
        value: count,
      })),
    ),
    counter(
      'holdfast_http_requests_total',
      'Requests that were answered.',
      facts.requests.map(({ count, route, code }) => ({ labels: { route, code: String(code) }, value: count })),
    ),
    counter('process_cpu_seconds_total', 'Time that the daemon has computed.', one(facts.cpuSeconds)),
    gauge('process_resident_memory_bytes', 'Memory that the daemon has.', one(facts.residentBytes)),
    gauge('process_start_time_seconds', 'When the daemon began.', one(startedAt / 1000)),
  ]
}

/** Where there is none, that is a number too: what is absent cannot be told from what is not measured. */
const NO_SESSION = { state: 'running', harness: null, count: 0 }

const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000)

const ofParts = (parts: readonly PartHealth[], measure: (part: PartHealth) => number | null): Reading[] =>
  parts.flatMap((part) => {
    const value = measure(part)
    return value === null ? [] : [{ labels: { part: part.name }, value }]
  })

const countsOf = ({ name, counts }: PartHealth): Reading[] => Object.entries(counts).map(([what, value]) => ({ labels: { part: name, what }, value }))
