import { homedir } from 'node:os'
import { join } from 'node:path'
import { askManager, type Managed } from '../../keep/index.ts'
import type { UnitState } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import { launchdAgent, withHash } from '../../show/index.ts'
import type { World } from '../world/world.ts'
import type { Manager } from './manager.ts'
import { digest, homeSuffix, specOf } from './service-name.ts'

/** The launchd of a user's session. Written from its manual, and never run on a Mac. */
export function launchdManager(world: World): Manager {
  const name = `dev.holdfast.daemon${homeSuffix(world)}`
  const domain = `gui/${process.geteuid?.() ?? 0}`
  const service = `${domain}/${name}`
  const path = join(world.env['HOME'] ?? homedir(), 'Library', 'LaunchAgents', `${name}.plist`)
  const ask = (...args: readonly string[]): Promise<Managed> => askManager('launchctl', args, world.env)
  const must = async (...args: readonly string[]): Promise<void> => {
    const answer = await askManager('launchctl', args, world.env, world.policy.managerChangeMs)
    if (answer.kind === 'answered' && answer.code === 0) return
    const why = answer.kind === 'silent' ? answer.why : answer.said || `exit code ${answer.code}`
    throw new Problem('service-manager-failed', `launchctl ${args.join(' ')} failed: ${why}`, { hint: `launchctl print ${service}` })
  }
  const state = async (): Promise<UnitState> => {
    const answer = await ask('print', service)
    if (answer.kind === 'silent') throw new Problem('service-manager-failed', answer.why)
    return stateIn(answer.code === 0 ? answer.out : null)
  }
  return {
    kind: 'launchd',
    name,
    path,
    text: withHash(launchdAgent(specOf(world, name)), digest),
    async trouble() {
      const answer = await ask('print', domain)
      if (answer.kind === 'silent') return answer.why
      return answer.code === 0 ? null : `no launchd of this user's session can be reached (${answer.said})`
    },
    state,
    // It reads a file when that is loaded.
    reload: async () => {},
    async start(anew) {
      const { enabled, active } = await state()
      if (enabled && (anew || !active)) await must('bootout', service)
      if (!enabled || anew || !active) await must('bootstrap', domain, path)
    },
    async stop() {
      if ((await state()).enabled) await must('bootout', service)
    },
    notes: async () => ['it is started again if it fails, 30 s after it was started at the soonest'],
    look: `launchctl print ${service}`,
  }
}

/** Null: it is not loaded. */
function stateIn(out: string | null): UnitState {
  const of = (name: string): string | null => new RegExp(`^\\s*${name} = (.*)$`, 'm').exec(out ?? '')?.[1] ?? null
  const pid = of('pid') === null ? null : Number(of('pid'))
  const code = of('last exit code')
  const failed = pid === null && code !== null && !/^(0|\(never exited\))/.test(code)
  return {
    enabled: out !== null,
    active: pid !== null,
    state: out === null ? 'not loaded' : (of('state') ?? 'unknown'),
    pid,
    trouble: failed ? `exit code ${code}` : null,
  }
}
