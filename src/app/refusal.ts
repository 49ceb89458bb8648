import type { LiveRun } from '../model/index.ts'
import { Problem } from '../model/index.ts'
import { age, holderFacts, holderLine } from '../show/index.ts'
import type { World } from './world.ts'

/** Says who holds it, since when, where, and what can be done. */
export function refusal(
  decision: { run: LiveRun; because: 'held' | 'unproven'; why: string; what: 'session' | 'directory'; waitedMs?: number },
  { files, clock }: World,
): Problem {
  const { run, because, why, what } = decision
  const pid = files.harness(run.id)?.pid ?? run.keeper?.pid ?? run.launcher.pid
  const holder = { ...run, pid }
  const waited = decision.waitedMs === undefined ? '' : `waited ${age(decision.waitedMs)}; `
  const subject = `${waited}${what === 'session' ? `session ${run.session}` : `directory ${run.dir}`}`
  if (because === 'unproven') {
    return new Problem('unproven', `${subject} is held by ${holderLine(holder, clock.now())}, which cannot be proven dead: ${why}`, {
      hint:
        what === 'session'
          ? 'look from where it runs; or override with --force, if you know that it is gone'
          : 'look from where it runs, or use another directory',
      detail: { holder: holderFacts(holder), why },
    })
  }
  const ways =
    what === 'session'
      ? [
          ...(run.detached ? [`holdfast attach ${run.session}`] : []),
          `holdfast stop ${run.session}`,
          '--takeover to replace it',
          '--wait DURATION to wait for its end',
        ]
      : ['another --dir', '--share to work beside it on purpose', `holdfast stop ${run.session}`]
  return new Problem('held', `${subject} is held by ${holderLine(holder, clock.now())}`, {
    hint: ways.join(' · '),
    detail: { holder: holderFacts(holder), why },
  })
}
