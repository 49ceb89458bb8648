import { isAbsolute, join } from 'node:path'
import { askManager, type Managed } from '../../keep/index.ts'
import { sha256 } from '../../lib/index.ts'
import type { Environment, UnitState } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import { systemdUnit, withHash } from '../../show/index.ts'
import type { World } from '../world/world.ts'
import { homeSuffix, specOf } from './service-name.ts'

/** The user's own systemd, and the unit that runs this home's daemon. */
export type Systemd = {
  readonly name: string
  /** The unit file, and the text that it shall have. */
  readonly path: string
  readonly text: string
  /** Why it cannot be asked; null: it can. */
  trouble(): Promise<string | null>
  state(): Promise<UnitState>
  /** Has it read the unit file again. */
  reload(): Promise<void>
  /** Has it run the daemon now and at every login; `anew`: also if it runs already. */
  start(anew: boolean): Promise<void>
  /** Ends the daemon, and has it run at no login any more. */
  stop(): Promise<void>
  /** Facts that the user should know. */
  notes(): Promise<readonly string[]>
  /** The command that tells a person why the daemon ended. */
  readonly look: string
}

/** Throws a Problem on a system that cannot have one. */
export function userSystemd(world: World): Systemd {
  refuseOtherSystems(world.own.platform)
  const name = `holdfast${homeSuffix(world)}.service`
  const env = reachable(world)
  const ask = (...args: readonly string[]): Promise<Managed> => askManager('systemctl', ['--user', ...args], env)
  const must = async (...args: readonly string[]): Promise<void> => {
    const answer = await askManager('systemctl', ['--user', ...args], env, world.policy.managerChangeMs)
    if (answer.kind === 'answered' && answer.code === 0) return
    const why = answer.kind === 'silent' ? answer.why : `${answer.said || `exit code ${answer.code}`}`
    throw new Problem('service-manager-failed', `systemctl --user ${args.join(' ')} failed: ${why}`, { hint: `systemctl --user status ${name}` })
  }
  return {
    name,
    path: join(configFolder(world), 'systemd', 'user', name),
    text: withHash(systemdUnit(specOf(world, name)), sha256),
    async trouble() {
      const answer = await ask('show', '--property=Version')
      if (answer.kind === 'silent') return answer.why
      return answer.code === 0 ? null : `no systemd of the user can be reached (${answer.said || `exit code ${answer.code}`})`
    },
    async state() {
      const answer = await ask('show', name, `--property=${PROPERTIES.join(',')}`)
      if (answer.kind === 'silent' || answer.code !== 0)
        throw new Problem('service-manager-failed', `systemctl --user show ${name} failed: ${answer.kind === 'silent' ? answer.why : answer.said}`)
      return stateIn(answer.out)
    },
    reload: () => must('daemon-reload'),
    async start(anew) {
      await must('enable', name)
      // Told so before, it would not try again.
      await ask('reset-failed', name)
      await must(anew ? 'restart' : 'start', name)
    },
    async stop() {
      await must('disable', '--now', name)
      await ask('reset-failed', name)
    },
    async notes() {
      const answer = await askManager('loginctl', ['show-user', world.user(), '--property=Linger'], env)
      const isOff = answer.kind === 'answered' && answer.out.trim() === 'Linger=no'
      const again = 'it is started again if it fails, at most 5 times in 5 minutes'
      return isOff ? [again, `it ends when you log out, and begins when you log in: loginctl enable-linger ${world.user()} keeps it`] : [again]
    },
    look: `journalctl --user -u ${name}`,
  }
}

function refuseOtherSystems(platform: string): void {
  if (platform === 'linux') return
  throw new Problem('service-unsupported', `a service needs Linux with systemd, and this system is ${platform}`, {
    hint: 'holdfast daemon start runs the daemon without a service',
  })
}

const PROPERTIES = ['LoadState', 'UnitFileState', 'ActiveState', 'SubState', 'MainPID', 'Result', 'ExecMainStatus', 'NRestarts'] as const

function stateIn(out: string): UnitState {
  const found = new Map(out.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
  const of = (name: (typeof PROPERTIES)[number]): string => found.get(name) ?? ''
  const pid = Number(of('MainPID') || 0)
  const active = ['active', 'activating', 'reloading', 'deactivating'].includes(of('ActiveState'))
  const failed = of('ActiveState') === 'failed'
  return {
    enabled: of('UnitFileState').startsWith('enabled'),
    active,
    state: [of('ActiveState'), of('SubState')].filter(Boolean).join(', ') || 'unknown',
    pid: pid > 0 ? pid : null,
    trouble: failed ? `${of('Result')}, exit status ${of('ExecMainStatus')}, started again ${of('NRestarts') || 0} times` : null,
  }
}

const configFolder = ({ env, userFolder }: Pick<World, 'env' | 'userFolder'>): string => {
  const config = env['XDG_CONFIG_HOME']
  return config !== undefined && isAbsolute(config) ? config : join(userFolder(), '.config')
}

/** Who came here by su or from an agent without its environment has a systemd all the same. */
function reachable({ env, own, directories }: Pick<World, 'env' | 'own' | 'directories'>): Environment {
  const runtime = `/run/user/${own.uid()}`
  return env['XDG_RUNTIME_DIR'] === undefined && directories.exists(runtime) ? { ...env, XDG_RUNTIME_DIR: runtime } : env
}
