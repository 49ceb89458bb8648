import type { HookEvent } from '../../model/index.ts'

/** The first line of a file of ours. */
export const FILE_SIGNATURE = 'Written by holdfast hooks install'

/**
 * A plugin of OpenCode and its kin. It imports nothing and does nothing outside a run. The session that a person talks to is reported when
 * it begins or another one is gone on with, and what is new to it is put beside its prompt, as a part that is marked as not the person's;
 * those that agents start for themselves (they have a parent) are left alone; but who has to answer their questions is the same person.
 */
export function openCodePlugin(command: (event: HookEvent) => string): string {
  return `// ${FILE_SIGNATURE}; holdfast hooks uninstall removes it.
const { spawn, spawnSync } = process.getBuiltinModule('node:child_process')
const { existsSync } = process.getBuiltinModule('node:fs')
const start = ${JSON.stringify(command('session-start'))}
const before = ${JSON.stringify(command('before-tool'))}
const prompt = ${JSON.stringify(command('prompt'))}
const turnEnd = ${JSON.stringify(command('turn-end'))}
const waiting = ${JSON.stringify(command('waiting'))}
const ASKED = ['permission.asked', 'permission.updated', 'permission.v2.asked', 'question.asked', 'question.v2.asked']
const ANSWERED = ['permission.replied', 'permission.v2.replied', 'question.replied', 'question.rejected', 'question.v2.replied', 'question.v2.rejected']

/** What it says, or nothing: it never fails. */
const call = (line, payload) =>
  new Promise((done) => {
    const child = spawn('sh', ['-c', line], { stdio: ['pipe', 'pipe', 'ignore'], timeout: 10000 })
    let said = ''
    child.on('error', () => done(''))
    child.on('close', () => done(said.trim()))
    child.stdout.on('data', (chunk) => (said += chunk))
    child.stdin.on('error', () => {})
    child.stdin.end(JSON.stringify(payload))
  })

/** One after the other: what comes later is told later. */
let last = Promise.resolve('')
const inTurn = (line, payload) => (last = last.then(() => call(line, payload)))

/** As it makes them itself: they are sorted by when they were made. */
const partId = () => {
  const time = ((BigInt(Date.now()) * 0x1000n + 0xfffn) & 0xffffffffffffn).toString(16).padStart(12, '0')
  return 'prt_' + time + Array.from({ length: 14 }, () => Math.floor(Math.random() * 36).toString(36)).join('')
}

export const Holdfast = async ({ client } = {}) => {
  const fence = process.env.HOLDFAST_FENCE
  if (!fence) return {}
  const roots = new Set()
  let told = ''
  const report = (id, directory) => {
    if (id === told) return
    told = id
    inTurn(start, { session_id: id, cwd: directory, hook_event_name: 'SessionStart' })
  }
  const parentOf = async (id) => {
    const got = await client?.session.get({ path: { id } }).catch(() => undefined)
    return got?.data === undefined ? undefined : (got.data.parentID ?? null)
  }
  const isRoot = async (id) => roots.has(id) || (await parentOf(id)) === null
  const rootOf = async (id) => {
    for (let one = id, steps = 0; one && steps < 8; steps++) {
      const parent = roots.has(one) ? null : await parentOf(one)
      if (parent === null) return one
      one = parent
    }
  }
  const tell = async (line, root) => {
    const id = await root
    if (id) await inTurn(line, { session_id: id })
  }
  return {
    event: async ({ event: { type, properties } }) => {
      const info = properties?.info
      if ((type === 'session.created' || type === 'session.updated') && info?.id && !info.parentID) roots.add(info.id)
      if (type === 'session.created' && roots.has(info?.id)) report(info.id, info.directory)
      if (type === 'session.status' && properties.status?.type === 'busy' && roots.has(properties.sessionID)) report(properties.sessionID)
      // Nobody waits for these, the agent least of all.
      if (type === 'session.idle') tell(turnEnd, isRoot(properties.sessionID).then((is) => is && properties.sessionID))
      if (ASKED.includes(type)) tell(waiting, rootOf(properties.sessionID))
      if (ANSWERED.includes(type)) tell(before, rootOf(properties.sessionID))
    },
    'chat.message': async ({ sessionID }, { message, parts }) => {
      if (!(await isRoot(sessionID))) return
      const text = await inTurn(prompt, { session_id: sessionID, hook_event_name: 'UserPromptSubmit' })
      if (text) parts.push({ id: partId(), sessionID, messageID: message.id, type: 'text', text, synthetic: true })
    },
    'tool.execute.before': async ({ sessionID }) => {
      if (!existsSync(fence)) return
      const { stderr } = spawnSync('sh', ['-c', before], { input: JSON.stringify({ session_id: sessionID }), encoding: 'utf8', timeout: 10000 })
      throw new Error(stderr?.trim() || 'Holdfast: denied. This agent was retired; stop working now and tell the user.')
    },
  }
}
`
}
