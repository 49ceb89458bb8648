import type { HookEvent } from '../model/index.ts'

/** The first line of a file of ours. */
export const FILE_SIGNATURE = 'Written by holdfast hooks install'

/**
 * A plugin of OpenCode and its kin. It imports nothing and does nothing outside a run. The session that a person talks to is reported when
 * it begins or another one is gone on with; those that agents start for themselves (they have a parent) are not.
 */
export function openCodePlugin(command: (event: HookEvent) => string): string {
  return `// ${FILE_SIGNATURE}; holdfast hooks uninstall removes it.
const { spawn, spawnSync } = process.getBuiltinModule('node:child_process')
const { existsSync } = process.getBuiltinModule('node:fs')
const start = ${JSON.stringify(command('session-start'))}
const before = ${JSON.stringify(command('before-tool'))}

export const Holdfast = async () => {
  const fence = process.env.HOLDFAST_FENCE
  if (!fence) return {}
  const roots = new Set()
  let told = ''
  const report = (id, directory) => {
    if (id === told) return
    told = id
    const child = spawn('sh', ['-c', start], { stdio: ['pipe', 'ignore', 'ignore'] })
    child.on('error', () => {})
    child.stdin.on('error', () => {})
    child.stdin.end(JSON.stringify({ session_id: id, cwd: directory, hook_event_name: 'SessionStart' }))
  }
  return {
    event: async ({ event: { type, properties } }) => {
      const info = properties?.info
      if ((type === 'session.created' || type === 'session.updated') && info?.id && !info.parentID) roots.add(info.id)
      if (type === 'session.created' && roots.has(info?.id)) report(info.id, info.directory)
      if (type === 'session.status' && properties.status?.type === 'busy' && roots.has(properties.sessionID)) report(properties.sessionID)
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
