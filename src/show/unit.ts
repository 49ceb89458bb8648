import type { ServiceSpec } from '../model/index.ts'

/** The line that says whose the file is; over everything but its own digits. */
const HASH = /holdfast-hash: ([0-9a-f]{64}|)/

/** `digest` of the text without its hash, put into it. */
export const withHash = (text: string, digest: (text: string) => string): string => text.replace(HASH, `holdfast-hash: ${digest(text)}`)

/** Was it written by us, and is it as we wrote it? */
export function authorOf(text: string, digest: (text: string) => string): 'ours' | 'edited' | 'foreign' {
  const hash = HASH.exec(text)?.[1]
  if (hash === undefined) return 'foreign'
  return hash === digest(text.replace(HASH, 'holdfast-hash: ')) ? 'ours' : 'edited'
}

/**
 * Only the daemon itself is ever ended with the unit (KillMode=process): what it started for agents is theirs. It may make cgroups for that,
 * hence Delegate; and one of those that runs out of memory is no reason to end the daemon. Whoever finds the home held (75), or was
 * called wrongly (64), is not started again.
 */
export const systemdUnit = ({
  name,
  home,
  node,
  command,
  path,
}: ServiceSpec): string => `# Written by \`holdfast service install\`, which writes it again. Your own settings: systemctl --user edit ${name}
# holdfast-hash: 
[Unit]
Description=Holdfast daemon (${specifiers(home)})
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=exec
ExecStart=:${[node, command, 'daemon', 'run', '--by', 'service'].map(systemdWord).join(' ')}
Environment=${[`HOLDFAST_HOME=${home}`, `PATH=${path}`].map(systemdWord).join(' ')}
WorkingDirectory=/
UMask=0077
KillMode=process
TimeoutStopSec=15
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=64 75
Delegate=yes
OOMPolicy=continue

[Install]
WantedBy=default.target
`

/** One word, whatever is in it; with `:` before the command nothing is put in the place of a dollar. */
export const systemdWord = (text: string): string => `"${specifiers(text.replaceAll('\\', '\\\\').replaceAll('"', '\\"'))}"`

const specifiers = (text: string): string => text.replaceAll('%', '%%')
