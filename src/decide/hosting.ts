import type { Namespaces } from '../model/index.ts'

/**
 * Where a run would be that a server or a keeper in these namespaces has, if that is not where the command is which asks for it: then it is refused.
 * What cannot be compared may be elsewhere. The same is asked of the server, before anybody is ended for a run, and of its keeper at the gate.
 */
export function elsewhere(namespaces: Namespaces): string | null {
  const found = (as: Namespaces[string]): string[] => Object.keys(namespaces).filter((name) => namespaces[name] === as)
  if (found('other').length > 0) return `another ${found('other').join(', ')} namespace than this command`
  return found('unknown').length > 0 ? 'namespaces that cannot be looked at from here' : null
}

/** Since then a client can be told to start no server: without that, who comes too late to join a pane would leave a server of his own in its place. */
const LEAST = { major: 3, minor: 2 }

/** Why the tmux that calls itself so cannot host anything; one that tells no number is not refused for that. */
export function versionTrouble(said: string): string | null {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(said) ?? []
  if (major === undefined || Number(major) > LEAST.major || (Number(major) === LEAST.major && Number(minor) >= LEAST.minor)) return null
  return `${said} is too old: ${LEAST.major}.${LEAST.minor} or later is needed`
}
