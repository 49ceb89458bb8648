import { isLive, type SessionRecord } from '../model/index.ts'
import { plain } from './paint.ts'
import { shorten, table } from './table.ts'
import { age } from './time.ts'

const DIR_WIDTH = 40
const COMMAND_WIDTH = 48

/** Sessions with numbers, to choose from. */
export const choicesText = (views: readonly SessionRecord[], now: number): string[] =>
  table(
    views.map(({ session, run }, index) => [
      { text: `${index + 1}` },
      { text: session.id },
      { text: run?.state ?? '-' },
      { text: run === null ? '-' : age(now - (isLive(run) ? run.startedAt : run.endedAt)) },
      { text: shorten(plain(session.dir), DIR_WIDTH) },
      { text: shorten(plain(session.argv.join(' ')), COMMAND_WIDTH) },
    ]),
  )
