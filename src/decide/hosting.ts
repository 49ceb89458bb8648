/** Since then a client can be told to start no server: without that, who comes too late to join a pane would leave a server of his own in its place. */
const LEAST = { major: 3, minor: 2 }

/** Why the tmux that calls itself so cannot host anything; one that tells no number is not refused for that. */
export function versionTrouble(said: string): string | null {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(said) ?? []
  if (major === undefined || Number(major) > LEAST.major || (Number(major) === LEAST.major && Number(minor) >= LEAST.minor)) return null
  return `${said} is too old: ${LEAST.major}.${LEAST.minor} or later is needed`
}
