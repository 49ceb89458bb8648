import { type LookPorts, lookAtAll } from '../../act/index.ts'
import { brokenInvariants, verdict } from '../../decide/index.ts'
import type { LiveRun, SessionRecord, Store } from '../../model/index.ts'
import { cgroupName, liveRunsOf } from '../../model/index.ts'
import { duplicateAdvice, duplicateText, type Finding, levelText, unreadableRunText } from '../../show/index.ts'
import { twoOwners } from '../agent/find-agents.ts'
import { judgeLocks } from '../lock/judge-locks.ts'
import { forgottenLocks } from '../lock/trees-without-record.ts'
import { notifyWays } from '../notify/notify.ts'
import { hosting } from '../pane/hosting.ts'
import { unreadableRuns } from '../recover/unreadable-runs.ts'
import { containmentFor } from '../world/choose-containment.ts'
import type { World } from '../world/world.ts'
import { aboutAgents } from './about-agents.ts'
import { aboutDaemon } from './about-daemon.ts'
import { aboutAnchors } from './anchors.ts'
import { prune } from './prune.ts'
import { untoldBeside } from './untold-agents.ts'

/** What is so here, what is wrong, and what can be done about it. Changes nothing. */
export async function examine(world: World): Promise<Finding[]> {
  const store = await world.store('reader')
  const { views, locks, unreadable } = await store.sessions.snapshot('live', world.policy.sessionsShown)
  return [
    ...aboutAgents(world),
    aboutConfig(world),
    ...machine(world),
    ...aboutDaemon(world),
    await aboutHosting(world),
    ...notifications(world),
    ...brokenInvariants(views, locks).map((what): Finding => ({ topic: 'store', level: 'trouble', what, next: 'this is a bug; please report it' })),
    ...unreadable.map(
      (run): Finding => ({
        topic: 'store',
        level: 'trouble',
        what: `run ${run} cannot be read`,
        next: `its directory is ${world.runRecords.path(run)}`,
      }),
    ),
    ...unreadableRuns(world).map(
      (one): Finding => ({
        topic: 'runs',
        level: 'trouble',
        what: unreadableRunText({ ...one, next: 'nothing is started until that is settled' }),
        next: one.next,
      }),
    ),
    ...(await runs(world, views)),
    ...(await forgotten(world, store)),
    ...(await owners(world, views)),
    ...(await untoldBeside(world, views)),
    ...(await litter(world)),
    ...aboutAnchors(world),
  ]
}

function aboutConfig({ configFile, configTrouble, home }: Pick<World, 'configFile' | 'configTrouble' | 'home'>): Finding {
  const file = configFile()
  const trouble = configTrouble()
  if (trouble === null) return { topic: 'config', level: 'fine', what: file ?? `the defaults hold (there is no ${home}/config.toml)`, next: null }
  const next = 'mend it or move it away; until then nothing new is started, and what is wrong in it is left out of account'
  return { topic: 'config', level: 'trouble', what: trouble, next }
}

const KINDS = { cgroup: 'cgroup', scope: 'systemd scope' } as const

/** What holds runs together here, and what cannot be seen. */
function machine(world: Pick<World, 'cgroups' | 'env' | 'homeTrouble' | 'keepers' | 'own' | 'processes'>): Finding[] {
  const { processes, keepers, cgroups, own } = world
  const containment = containmentFor(world, 'RUN', cgroups.base())
  const marker = keepers.markerTrouble()
  const { rows, blind } = processes.table({ since: 0, cookies: false })
  const foreign = rows.filter(({ uid }) => uid !== own.uid()).length
  return [
    ...(world.homeTrouble === null
      ? []
      : [
          {
            topic: 'home',
            level: 'trouble',
            what: `${world.homeTrouble}; the id of the home comes from its runs`,
            next: 'move it away: the next command writes it again',
          } as const,
        ]),
    {
      topic: 'containment',
      level: containment.level === 'none' ? 'note' : 'fine',
      what: containment.level === 'none' ? levelText(containment) : `each run has a ${KINDS[containment.level]} of its own`,
      next: containmentAdvice(containment.level),
    },
    {
      topic: 'marker',
      level: marker === null ? 'fine' : 'note',
      what: marker === null ? 'every process of a run carries its marker (RLIMIT_RTTIME)' : `no marker: ${marker}`,
      next:
        marker === null
          ? null
          : 'without cgroup and marker, one who sheds parent, session and environment is known only if a reconcile saw it before',
    },
    {
      topic: 'sight',
      level: blind !== null ? 'trouble' : processes.hides() ? 'note' : 'fine',
      what:
        blind ??
        `all ${rows.length} processes here can be told apart${foreign > 0 && own.uid() !== 0 ? `; ${foreign} of other users are known by marker only` : ''}${processes.hides() ? '; /proc is mounted with hidepid: what belongs to others is not seen at all' : ''}`,
      next: blind === null ? null : 'what cannot be seen is unknown, and nothing is ended because of it',
    },
  ]
}

/** Can a run be hosted in a pane here? */
async function aboutHosting(world: Pick<World, 'panes'>): Promise<Finding> {
  const host = await hosting(world)
  if (host.trouble === null) return { topic: 'tmux', level: 'fine', what: `runs can be hosted in panes (${host.version})`, next: null }
  return { topic: 'tmux', level: 'note', what: `run --tmux is not possible: ${host.trouble.why}`, next: null }
}

/** How people hear of what happens without asking. Only a daemon tells them anything. */
function notifications(world: Pick<World, 'directories' | 'env' | 'notifiers' | 'notify'>): Finding[] {
  const ways = notifyWays(world)
  const open = ways.flatMap(({ way, why }) => (why === null ? [way] : []))
  const shut = ways.flatMap(({ way, why }) => (why === null ? [] : [`${way}: ${why}`]))
  const what = `${open.length === 0 ? 'nobody is told' : `told by ${open.join(', ')}`} while the daemon runs${shut.length === 0 ? '' : `; not by ${shut.join('; ')}`}`
  const told: Finding = { topic: 'notifications', level: 'fine', what, next: open.length === 0 ? 'config.toml: [notify]' : null }
  const program = world.notify().command?.[0]
  if (program === undefined || world.directories.program(program, '/', world.env['PATH']) !== null) return [told]
  return [
    told,
    { topic: 'notifications', level: 'trouble', what: `there is no program ${program} to tell it`, next: 'config.toml: [notify] command' },
  ]
}

const containmentAdvice = (level: string): string | null =>
  level === 'none' ? 'a writable cgroup (root, or a delegated one) or a systemd of your own makes endings exact' : null

async function runs(world: LookPorts, views: readonly SessionRecord[]): Promise<Finding[]> {
  const live = liveRunsOf(views)
  const looked = await lookAtAll(live, world)
  const findings: Finding[] = []
  for (const run of live) {
    const seen = looked.get(run.id)
    if (seen !== undefined) findings.push(...aboutRun(world, run, verdict(run, seen), seen.keeper?.kind === 'gone' && seen.exit === null))
  }
  return findings
}

/** Trees that live on although their runs are over on record. */
async function forgotten(world: World, store: Store): Promise<Finding[]> {
  const locks = await forgottenLocks(store, null)
  const judged = await judgeLocks(world, locks)
  return locks.flatMap((lock): Finding[] => {
    const state = judged.get(lock.seq)
    if (state === undefined || state.kind === 'free') return []
    const what = `its run ${lock.run} is over on record, but its tree is not: ${state.why}`
    return [{ topic: lock.session, level: 'trouble', what, next: `holdfast stop ${lock.session} ends it` }]
  })
}

async function owners(world: World, views: readonly SessionRecord[]): Promise<Finding[]> {
  return (await twoOwners(world, views)).map((duplicate) => ({
    topic: 'owners',
    level: duplicate.certain ? 'trouble' : 'note',
    what: duplicateText(duplicate),
    next: duplicateAdvice(duplicate),
  }))
}

function aboutRun(world: Pick<World, 'evidence' | 'processes'>, run: LiveRun, judged: ReturnType<typeof verdict>, keeperGone: boolean): Finding[] {
  const found: Finding[] = []
  const topic = run.session
  if (judged.kind === 'unknown')
    found.push({
      topic,
      level: 'trouble',
      what: `unknown: ${judged.why}`,
      next: `look from where it runs; or, if you know that it is gone: holdfast resolve ${topic} --gone`,
    })
  const survivors = run.state === 'stopping' ? run.survivors : []
  if (judged.kind === 'leftovers' && survivors.length === 0)
    found.push({
      topic,
      level: 'trouble',
      what:
        judged.members.length === 0
          ? 'its agent is over, a shared daemon of its harness still works on the session'
          : `its agent is over, ${judged.members.length} of what it started live on`,
      next: 'holdfast reconcile ends them',
    })
  if (judged.kind === 'over') found.push({ topic, level: 'note', what: 'it is over, and not yet recorded so', next: 'holdfast reconcile records it' })
  for (const { pid, name, why } of survivors)
    found.push({ topic, level: 'trouble', what: `survivor pid ${pid} (${name}): ${why}`, next: `holdfast stop ${topic} tries again` })
  if (judged.kind === 'alive' && keeperGone)
    found.push({ topic, level: 'note', what: 'its keeper is gone: how it ends will not be known', next: null })
  const trouble = world.evidence.trouble(run.id)
  if (trouble !== null)
    found.push({ topic, level: 'trouble', what: `${trouble}: it is not read`, next: `somebody put it there; holdfast stop ${topic} still ends it` })
  if (judged.kind === 'alive' && run.containment.level !== 'none' && world.evidence.cgroup(run.id) === null)
    found.push({
      topic,
      level: 'note',
      what: `its agent is not in its cgroup (${cgroupName(world.processes.here().install, run.id)})`,
      next: 'its other proofs must do',
    })
  return found
}

async function litter(world: World): Promise<Finding[]> {
  const found = await prune(world, true)
  const away = found.filter(({ keep }) => !keep).length
  return [
    ...(away === 0
      ? []
      : [
          {
            topic: 'litter',
            level: 'note',
            what: `${away} ${away === 1 ? 'thing' : 'things'} that the dead left`,
            next: 'holdfast prune removes them',
          } as const,
        ]),
    ...found.filter(({ keep }) => keep).map(({ what, why }): Finding => ({ topic: 'litter', level: 'note', what: `${what}: ${why}`, next: null })),
  ]
}
