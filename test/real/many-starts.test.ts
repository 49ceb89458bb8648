import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { withStore } from './daemon-hand.ts'
import { inLab } from './lab.ts'

const STARTS = 30

verifies('one-owner', 'thirty starts at once in a home that is not there yet all succeed: they wait for the store, and none gives up', () =>
  inLab(async (lab) => {
    const sessions = Array.from({ length: STARTS }, (_, index) => `s${index}`)
    const started = await Promise.all(
      sessions.map((session) => lab.hf(['run', '--session', session, '--dir', lab.newDir(), '--detach', '--', 'sleep', '1000'])),
    )
    expect(started.filter(({ code }) => code !== 0).map(({ stderr }) => stderr)).toEqual([])
    const live = JSON.parse(await lab.ok(['ls', '--json'])) as { session: string; state: string; epoch: number }[]
    expect(live.map(({ session, state, epoch }) => `${session} ${state} ${epoch}`).toSorted()).toEqual(
      sessions.map((session) => `${session} running 1`).toSorted(),
    )
    // Each is recorded by itself, and by nobody else once more.
    const events = await withStore(lab, (store) => store.events.list({ session: null, after: 0, limit: 1000 }))
    for (const kind of ['claimed', 'running']) expect([kind, events.filter((event) => event.kind === kind).length]).toEqual([kind, STARTS])
  }),
)
