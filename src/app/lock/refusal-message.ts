import type { Holding, Obstacle } from '../../decide/index.ts'
import { quote } from '../../keep/index.ts'
import type { Directory, LiveRun } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import { age, holderFacts, holderLine, lockFacts, lockHolderLine } from '../../show/index.ts'
import type { World } from '../world/world.ts'
import { pidOf } from './judge-locks.ts'

type Refused = { readonly for: Obstacle; readonly because: 'held' | 'unproven'; readonly why: string; readonly waitedMs?: number }

/** Says who holds it, since when, where, and what can be done. */
export function refusal(refused: Refused, world: World, wanted: Directory, verb: 'run' | 'adopt' = 'run'): Problem {
  const waited = refused.waitedMs === undefined ? '' : `waited ${age(refused.waitedMs)}; `
  return refused.for.what === 'session'
    ? sessionRefusal(refused, refused.for.run, waited, world)
    : directoryRefusal(refused, refused.for.holding, world, wanted, verb, waited)
}

function sessionRefusal({ because, why }: Refused, run: LiveRun, waited: string, { evidence, clock }: Pick<World, 'clock' | 'evidence'>): Problem {
  const holder = { ...run, pid: pidOfRun(run, evidence) }
  const told = `${waited}session ${run.session} is held by ${holderLine(holder, clock.now())}`
  const detail = { holder: holderFacts(holder), why }
  if (because === 'unproven')
    return new Problem('owner-unproven', `${told}, which cannot be proven dead: ${why}`, {
      hint: 'look from where it runs; or override with --force, if you know that it is gone',
      detail,
    })
  const ways = [
    ...(run.detached ? [`holdfast attach ${run.session}`] : []),
    `holdfast stop ${run.session}`,
    '--takeover to replace it',
    '--wait DURATION to wait for its end',
  ]
  return new Problem('owner-alive', told, { hint: ways.join(' · '), detail })
}

/** The owner of a session, in words and for programs. */
export function holderOf({ evidence, clock }: Pick<World, 'clock' | 'evidence'>, run: LiveRun): { readonly line: string; readonly facts: object } {
  const holder = { ...run, pid: pidOfRun(run, evidence) }
  return { line: holderLine(holder, clock.now()), facts: holderFacts(holder) }
}

/** A conversation that another live session has. */
export function carriedBy({ evidence, clock }: World, what: string, run: LiveRun): Problem {
  const holder = { ...run, pid: pidOfRun(run, evidence) }
  return new Problem('conversation-owned', `${what} is carried by ${holderLine(holder, clock.now())}`, {
    hint: [
      ...(run.detached ? [`holdfast attach ${run.session}`] : []),
      `holdfast stop ${run.session}`,
      `holdfast resume ${run.session} --takeover`,
    ].join(' · '),
    detail: { holder: holderFacts(holder), conversation: what },
  })
}

/** A directory is refused with a way around it: nobody else's session is ended because of one. */
export function directoryRefusal(
  { for: obstacle, because, why }: Refused,
  holding: Holding,
  { evidence, clock }: Pick<World, 'clock' | 'evidence'>,
  wanted: Directory,
  verb: 'run' | 'lock' | 'adopt',
  waited = '',
): Problem {
  const { lock, relation, worksIn, run } = holding
  const forgotten = obstacle.what === 'forgotten' ? lock.session : null
  const pid = pidOf(holding) ?? (run === null ? null : pidOfRun(run, evidence))
  const holder = run === null || pid === null ? lockHolderLine(lock, pid, clock.now()) : holderLine({ ...run, pid }, clock.now())
  const held = { same: 'is', inside: `is inside ${lock.directory.path}, which is`, around: `contains ${lock.directory.path}, which is` }[relation]
  const where = worksIn === null ? `${held} held by ${holder}` : `is in use by ${holder}, whose agent works in ${worksIn} now`
  const told =
    forgotten === null
      ? `${waited}directory ${wanted.path} ${where}`
      : `${waited}session ${forgotten} lives on, although its run is over on record: ${holder}`
  const detail = { holder: run === null || pid === null ? lockFacts(lock, pid) : holderFacts({ ...run, pid }), relation, worksIn, why }
  const unproven = because === 'unproven'
  const around =
    forgotten !== null
      ? ['--takeover to replace it']
      : { run: waysAround(wanted), lock: ['another directory'], adopt: ['--share to take it in beside it'] }[verb]
  const hint = [...around, wayOut(holding, unproven)].join(' · ')
  return unproven
    ? new Problem(forgotten === null ? 'directory-unproven' : 'tree-unproven', `${told}, which cannot be proven dead: ${why}`, { hint, detail })
    : new Problem(forgotten === null ? 'directory-held' : 'tree-alive', told, { hint, detail })
}

const waysAround = ({ repository }: Directory): string[] => [
  'another --dir',
  ...(repository === null ? [] : ['--worktree for a working tree of its own']),
  '--share to work beside it on purpose',
]

function wayOut({ lock, run }: Holding, unproven: boolean): string {
  if (lock.holder.kind !== 'run') return `holdfast unlock ${quoted(lock.directory.path)}${unproven ? ' --force' : ''}`
  if (!unproven) return `holdfast stop ${lock.session}`
  const word = run === null ? `holdfast unlock ${quoted(lock.directory.path)} --force` : `holdfast resolve ${lock.session} --gone`
  return `${word}, if you know that it is gone`
}

const pidOfRun = (run: LiveRun, evidence: World['evidence']): number => evidence.harness(run.id)?.pid ?? run.keeper?.pid ?? run.launcher.pid

/** As it can be given to a shell. */
const quoted = (path: string): string => (/^[\w@%+=:,./-]+$/.test(path) ? path : quote(path))
