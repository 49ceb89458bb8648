import { expect } from 'vitest'
import { COMMAND, isAlive, readOr, until } from '../real/lab.ts'
import { AGENT_MS, type AgentLab, expectNothingOf, type Member, scenario } from './lab.ts'

const of = ({ mcp }: { mcp?: unknown }): boolean => mcp !== undefined

type Told = {
  readonly session?: string
  readonly nativeId?: string
  readonly pid?: number
  readonly siblings?: readonly { readonly session: string }[]
}

scenario(
  'over MCP an agent learns who it is and who else is there, says what it does, sends a message, asks for a directory and starts a task',
  async (lab) => {
    const [elsewhere, wanted, file] = [lab.newDir(), lab.newDir(), lab.file('task')]
    await lab.ok(['run', '--session', 'other', '--dir', elsewhere, '--detach', '--', 'sleep', '3600'])
    const command = ['sh', '-c', `pwd >${file}; echo "$FA_DIR" >>${file}; exec sleep 3600`]
    const script = [
      'alpha',
      '[[mcp: whoami]]',
      '[[mcp: siblings]]',
      '[[mcp: report {"kind": "plan", "text": "I test the doors"}]]',
      '[[mcp: message {"to": "other", "text": "hello from the agent"}]]',
      `[[mcp: lock ${JSON.stringify({ dir: wanted })}]]`,
      `[[mcp: start_task ${JSON.stringify({ command })}]]`,
      '[[hang]]',
    ].join(' ')
    await lab.run('s', script, [], lab.launch.mcp?.(COMMAND, ['mcp']))

    expect(await told(lab, 1)).toMatchObject({ session: 's' })
    expect((await told(lab, 2)).siblings?.map(({ session }) => session)).toEqual(['other'])
    const { run, pid } = await lab.status('s')
    // A lock is the agent's, not the server's.
    expect(await told(lab, 5)).toMatchObject({ session: 's', pid })
    const task = await told(lab, 6)
    expect(JSON.parse(await lab.ok(['status', 's', '--json']))).toMatchObject({ said: { plan: { text: 'I test the doors' } } })
    const inbox = JSON.parse(await lab.ok(['inbox', '--session', 'other', '--peek', '--json'])) as unknown[]
    expect(inbox).toMatchObject([{ from: { session: 's', run }, text: 'hello from the agent' }])
    // What it starts has the agent's own environment, whatever the server was given of it.
    expect(await until('the task', () => /^(.*)\n(.+)\n$/.exec(readOr(file))?.[1])).toBe(lab.dir)

    const server = serverIn(await lab.tree('s'))
    expect(server, 'it is of the run').toBeDefined()
    const strangers = JSON.parse(await lab.ok(['ls', '--unmanaged', '--json'])) as { pid: number }[]
    expect(strangers.map((stranger) => stranger.pid)).not.toContain(server?.pid)
    await lab.ok(['stop', 's'])
    await expectNothingOf(lab, run, [])
    for (const one of [server?.pid, task.pid]) expect(isAlive(one ?? 0)).toBe(false)
  },
  { of },
)

const serverIn = (members: readonly Member[]): Member | undefined => members.find(({ pid }) => /cli\.cjs\0mcp\0/.test(readOr(`/proc/${pid}/cmdline`)))

/** What the last of so many tool results said, once the model was told it. */
async function told(lab: AgentLab, results: number): Promise<Told> {
  const ofScript = () => lab.model.requests.find((one) => one.prompt.includes('alpha') && one.results === results)
  const request = await until(`the tool result ${results}`, ofScript, AGENT_MS)
  const json = /\{[\s\S]*\}/.exec(request.told)?.[0]
  expect(json, request.told).toBeDefined()
  return JSON.parse(json ?? '{}') as Told
}
