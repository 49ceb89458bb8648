import type { ProblemTable } from '../exit-code.ts'

/** Problems of the daemon. */
export const DAEMON_PROBLEMS = {
  'daemon-running': { kind: 'held', means: 'A daemon already runs in the home.' },
  'daemon-not-started': { kind: 'unavailable', means: 'The daemon could not be started.' },
  'daemon-silent': { kind: 'unavailable', means: 'The daemon holds the home but does not answer.' },
  'daemon-survived': { kind: 'survivors', means: 'The daemon is still there after it was killed.' },
  'daemon-unproven': { kind: 'unproven', means: 'Holdfast cannot prove whether a daemon holds the home.' },
  'daemon-not-signallable': { kind: 'unproven', means: 'The caller may not signal the daemon.' },
  'daemon-folder-unusable': { kind: 'unavailable', means: 'The folder of the daemon cannot be used.' },
  'daemon-lock-held': { kind: 'held', means: 'An unknown process holds the new lock file of the daemon.' },
  'daemon-lock-unusable': { kind: 'unavailable', means: 'The lock file of the daemon cannot be used.' },
  'daemon-token-unusable': { kind: 'unavailable', means: 'The token file of the daemon cannot be used.' },
  'port-unavailable': { kind: 'unavailable', means: 'The daemon cannot listen on its port.' },
} as const satisfies ProblemTable

/** Problems of the service that runs the daemon. */
export const SERVICE_PROBLEMS = {
  'service-unsupported': { kind: 'unavailable', means: 'Holdfast knows no service manager on this platform.' },
  'service-manager-unreachable': { kind: 'unavailable', means: 'The service manager cannot be reached.' },
  'service-manager-failed': { kind: 'unavailable', means: 'A command of the service manager failed.' },
  'service-text-invalid': { kind: 'badCommand', means: 'A value has characters that a service file cannot hold.' },
  'service-file-foreign': { kind: 'badCommand', means: 'Holdfast did not write the service file in its present form.' },
  'service-file-unusable': { kind: 'unavailable', means: 'The service file cannot be read or written.' },
  'service-not-up': { kind: 'unavailable', means: 'The service was installed, but its daemon did not come up.' },
} as const satisfies ProblemTable
