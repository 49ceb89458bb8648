import { giveBack, mySession, readInbox, rebind, say, sendMessage, siblings, type World, whoAmI } from '../app/index.ts'
import { exitCode, Problem } from '../model/index.ts'
import { messageJson, messageText, moreText, sentText, siblingJson, siblingsText, unreadableText, whoJson, whoText } from '../show/index.ts'
import { noWords, type Parsed } from './options.ts'
import { jsonOf, leaveUnread, paintFor, print, printJson, say as tell, textOf, tryWrite } from './out.ts'
import { duration } from './start.ts'

export async function whoamiVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'whoami')
  const self = await whoAmI(world)
  if (parsed.flags.has('json')) printJson(whoJson(self))
  else print(whoText(self))
  return self.kind === 'session' ? exitCode.done : exitCode.notFound
}

export async function siblingsVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'siblings')
  const found = await siblings(world, { session: parsed.values.get('session'), here: parsed.flags.has('here') })
  for (const run of found.unreadable) tell(unreadableText(run, world.runRecords.path(run)))
  if (parsed.flags.has('json')) printJson(found.siblings.map(siblingJson))
  else print(siblingsText(found, world.policy.siblingsShown, world.clock.now(), paintFor(1)))
  return exitCode.done
}

export async function rebindVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'rebind')
  const to = parsed.values.get('to')
  if (to === undefined)
    throw new Problem('option-missing', 'rebind needs the true id of the session', { hint: 'holdfast rebind [--session S] --to ID' })
  const session = parsed.values.get('session') ?? (await mySession(world, 'be rebound')).session.id
  const rebound = await rebind(world, session, to, `${world.user()}@${world.host}`)
  if (parsed.flags.has('json')) printJson(rebound)
  else {
    print([
      rebound.changed
        ? `session ${rebound.from} is ${rebound.session} from now on; its old id still finds it`
        : `session ${rebound.session} has that id`,
    ])
    if (rebound.aside !== null) tell(`the session that was over and had this id is ${rebound.aside} from now on`)
  }
  return exitCode.done
}

/** A text may begin with a dash: behind -- nothing is an option. */
const wordsOf = ({ words, command }: Parsed): readonly string[] => [...words, ...(command ?? [])]

export async function messageVerb(world: World, parsed: Parsed): Promise<number> {
  const wide = (['all', 'here'] as const).filter((flag) => parsed.flags.has(flag))
  const said = wordsOf(parsed)
  const [first, ...rest] = said
  const [session, words] = wide.length === 0 ? [first, rest] : [undefined, said]
  if (wide.length > 1 || (wide.length === 0 && session === undefined) || words.length !== 1)
    throw new Problem('arguments-wrong', 'message takes whom it is for, and one text', {
      hint: 'holdfast message S "TEXT", or: holdfast message --all|--here "TEXT"',
    })
  const sent = await sendMessage(world, { to: wide[0] ?? { session: session ?? '' }, text: words[0] ?? '' })
  if (parsed.flags.has('json')) printJson(sent)
  else print(sentText(sent))
  return exitCode.done
}

/** Waiting without a time has no end of its own. */
const FOREVER_MS = Number.POSITIVE_INFINITY

export async function inboxVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'inbox')
  const timeMs = duration(parsed, 'timeout')
  const waits = parsed.flags.has('wait')
  if (timeMs !== undefined && !waits)
    throw new Problem('option-misplaced', '--timeout says how long --wait waits', { hint: 'holdfast inbox --wait --timeout 5m' })
  const waitMs = waits ? (timeMs ?? FOREVER_MS) : null
  const inbox = await readInbox(world, { peek: parsed.flags.has('peek'), waitMs, session: parsed.values.get('session') })
  const json = parsed.flags.has('json')
  const trouble = tryWrite(1, json ? jsonOf(inbox.messages.map(messageJson)) : textOf(messageText(inbox, world.clock.now(), paintFor(1))))
  if (trouble !== null) {
    // What nobody got is not read.
    if (!parsed.flags.has('peek')) await giveBack(world, inbox)
    leaveUnread(trouble)
  }
  if (json && inbox.left > 0) tell(moreText(inbox.left))
  return waits && inbox.messages.length === 0 ? exitCode.held : exitCode.done
}

export async function reportVerb(world: World, parsed: Parsed): Promise<number> {
  const [text = '', ...more] = wordsOf(parsed)
  if (text === '' || more.length > 0)
    throw new Problem('arguments-wrong', 'report takes one text', {
      hint: 'holdfast report "what you are about to do", or: report --result "what came of it"',
    })
  const said = await say(world, parsed.flags.has('result') ? 'result' : 'plan', text)
  if (parsed.flags.has('json')) printJson({ session: said.session, text: said.saying.text })
  else print([`the others see it with session ${said.session}`])
  return exitCode.done
}
