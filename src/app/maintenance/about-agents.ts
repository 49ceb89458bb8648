import { HOOKS, versionAt } from '../../harness/index.ts'
import type { HookState } from '../../model/index.ts'
import type { Finding } from '../../show/index.ts'
import { installedAgent } from '../agent/installed-agents.ts'
import { hooksStatus } from '../hooks/install-hooks.ts'
import type { World } from '../world/world.ts'

type Ports = Pick<World, 'assets' | 'directories' | 'env' | 'harnesses' | 'home'>

/** Which agents are here, and which of them report to us. */
export function aboutAgents(world: Ports): Finding[] {
  const found = world.harnesses().flatMap((harness) => {
    const there = installedAgent(world, harness)
    return there === null ? [] : [{ name: harness.name, version: versionAt(there.path) }]
  })
  if (found.length === 0)
    return [
      {
        topic: 'agents',
        level: 'note',
        what: 'no agent that Holdfast knows is on PATH',
        next: 'any command can be run: holdfast run -- COMMAND',
      },
    ]
  const what = found.map(({ name, version }) => (version === null ? name : `${name} ${version}`)).join(', ')
  return [
    { topic: 'agents', level: 'fine', what, next: null },
    ...aboutHooks(
      world,
      found.map(({ name }) => name).filter((name) => Object.hasOwn(HOOKS, name)),
    ),
  ]
}

/** `names`: agents that are here and can have hooks. */
function aboutHooks(world: Ports, names: readonly string[]): Finding[] {
  const states = hooksStatus(world)
  const of = (...wanted: readonly HookState['state'][]): string[] =>
    states.filter(({ harness, state }) => (names.includes(harness) || state !== 'absent') && wanted.includes(state)).map(({ harness }) => harness)
  const installed = of('installed')
  const untrusted = states.filter(({ trusted }) => trusted === false).map(({ harness }) => harness)
  const stale = of('outdated', 'other')
  const absent = of('absent')
  const said = [
    ...(installed.length === 0 ? [] : [`installed for ${installed.join(', ')}`]),
    ...(absent.length === 0 ? [] : [`not for ${absent.join(', ')}`]),
  ]
  const install = (harnesses: readonly string[]): string => `holdfast hooks install ${harnesses.join(' ')}`
  return [
    ...(said.length === 0
      ? []
      : [{ topic: 'hooks', level: 'fine', what: said.join('; '), next: absent.length === 0 ? null : install(absent) } as const]),
    ...(stale.length === 0
      ? []
      : [{ topic: 'hooks', level: 'note', what: `those of ${stale.join(', ')} are of an older or another Holdfast`, next: install(stale) } as const]),
    ...untrusted.map(
      (harness): Finding => ({
        topic: 'hooks',
        level: 'note',
        what: `${harness} does not trust them yet, and runs none of them`,
        next: `start ${harness} once and choose "Trust all and continue"`,
      }),
    ),
    ...states.flatMap(({ harness, state, trouble }): Finding[] =>
      state === 'unreadable' ? [{ topic: 'hooks', level: 'note', what: `those of ${harness} cannot be told: ${trouble ?? ''}`, next: null }] : [],
    ),
  ]
}
