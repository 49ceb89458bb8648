import { codeOf, type Source } from './sources.ts'

/** Groups of files that import each other in a circle. `which`: edges that exist when the program runs, or those of types as well. */
export function cycles(sources: readonly Source[], which: 'value' | 'any'): string[][] {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const next = (path: string): string[] =>
    (byPath.get(path)?.edges ?? []).filter(({ to, value }) => byPath.has(to) && (which === 'any' || value)).map(({ to }) => to)
  return strongComponents([...byPath.keys()], next)
}

/** The sub-rooms of app, lowest first: each may import only those before it, and itself. */
export const APP_ORDER = [
  'world',
  'source',
  'daemon',
  'recover',
  'caller',
  'lock',
  'usage',
  'conversation',
  'activity',
  'agent',
  'worktree',
  'hooks',
  'see',
  'pane',
  'notify',
  'talk',
  'maintenance',
  'start',
  'end',
  'work',
  'compose',
] as const

/** Imports of a sub-room of app that go up, and files of app that are in no sub-room. */
export function againstOrder(sources: readonly Source[], order: readonly string[] = APP_ORDER): string[] {
  const subRoom = (path: string): number => order.indexOf(path.split('/')[1] ?? '')
  const inApp = sources.filter(({ room, path }) => room === 'app' && path !== 'app/index.ts')
  const homeless = inApp.filter(({ path }) => subRoom(path) < 0).map(({ path }) => `${path} is in no sub-room`)
  const upward = inApp.flatMap(({ path, edges }) =>
    edges
      .filter(({ to }) => to.startsWith('app/') && (to === 'app/index.ts' || subRoom(to) > subRoom(path)))
      .map(({ to }) => `${path} imports ${to}, which comes later in the order`),
  )
  return [...homeless, ...upward]
}

/** Files that pass on whatever another one exports: names are listed, so that a room shows what it offers. */
export const starExports = (sources: readonly Source[]): string[] =>
  sources.filter(({ text }) => /^\s*export\s+(?:type\s+)?\*/m.test(text)).map(({ path }) => path)

/** Tarjan's algorithm: the components with more than one member. */
function strongComponents(nodes: readonly string[], next: (node: string) => readonly string[]): string[][] {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const open: string[] = []
  const found: string[][] = []
  const visit = (node: string): void => {
    order.set(node, order.size)
    low.set(node, order.get(node) ?? 0)
    open.push(node)
    for (const to of next(node)) {
      if (!order.has(to)) visit(to)
      if (open.includes(to)) low.set(node, Math.min(low.get(node) ?? 0, low.get(to) ?? 0))
    }
    if (low.get(node) !== order.get(node)) return
    const group = open.splice(open.indexOf(node))
    if (group.length > 1) found.push(group.toSorted())
  }
  for (const node of nodes) if (!order.has(node)) visit(node)
  return found
}

const MACHINE = /^(?:node:)?(?:fs|fs\/promises|os|http|https|net|child_process|dgram|tls)$/

/** Files of app that reach the machine past a port. Only `compose` builds real edges; failpoints end test builds. */
export const pastPorts = (sources: readonly Source[]): string[] =>
  sources
    .filter(({ room, path }) => room === 'app' && !path.startsWith('app/compose/') && path !== 'app/world/failpoints.ts' && path !== 'app/index.ts')
    .flatMap(({ path, imports, edges, text }) => [
      ...imports.filter((specifier) => MACHINE.test(specifier)).map((specifier) => `${path} imports ${specifier}`),
      ...edges.filter(({ to, value }) => value && to.startsWith('observe/')).map(({ to }) => `${path} imports ${to}`),
      ...(/(?<![\w.])process\.(?:argv|chdir|cwd|env|execPath|exit|geteuid|getuid|kill|pid|platform|ppid|umask)\b/.test(codeOf(text))
        ? [`${path} asks about its own process`]
        : []),
    ])

/**
 * Functions of the edges keep and record that use cases still call themselves, without a port. The list may only get shorter.
 */
const WITHOUT_PORT: Readonly<Record<string, readonly string[]>> = {
  'app/activity/activity.ts': ['record'],
  'app/daemon/control.ts': ['keep'],
  'app/daemon/place.ts': ['keep', 'record'],
  'app/daemon/service-systemd.ts': ['keep'],
  'app/daemon/service.ts': ['keep'],
  'app/daemon/start.ts': ['keep'],
  'app/hooks/hook-receipt.ts': ['keep'],
  'app/hooks/install-hooks.ts': ['keep'],
  'app/lock/refusal-message.ts': ['keep'],
  'app/maintenance/anchors.ts': ['keep'],
  'app/notify/notify.ts': ['record'],
  'app/start/agent-command.ts': ['keep'],
}

/** Use cases that call an edge without a port, and are not on the list; and entries of the list that are not needed any more. */
export function edgesWithoutPort(sources: readonly Source[], known: Readonly<Record<string, readonly string[]>> = WITHOUT_PORT): string[] {
  const found = new Map(
    sources
      .filter(({ room, path }) => room === 'app' && !path.startsWith('app/compose/') && path !== 'app/index.ts')
      .map(
        ({ path, edges }) =>
          [path, [...new Set(edges.filter(({ value }) => value).flatMap(({ to }) => /^(keep|record)\//.exec(to)?.[1] ?? []))]] as const,
      ),
  )
  const fresh = [...found].flatMap(([path, rooms]) =>
    rooms.filter((room) => !known[path]?.includes(room)).map((room) => `${path} calls ${room} without a port`),
  )
  const stale = Object.entries(known).flatMap(([path, rooms]) =>
    rooms.filter((room) => !found.get(path)?.includes(room)).map((room) => `${path} no longer calls ${room}: take it off the list`),
  )
  return [...fresh, ...stale]
}

const GIT = 'keep/worktree/git.ts'
/** Who may have git run: `looking` executes nothing of a repository's, `acting` does what a person asked for (decision 029). */
const GIT_CALLERS = ['keep/worktree/looking.ts', 'keep/worktree/acting.ts']

/** Files that start git past these two. `scripts`: shell scripts of ours, by path. */
export function pastGit(sources: readonly Source[], scripts: Readonly<Record<string, string>> = {}): string[] {
  const named = sources
    .filter(({ path, text }) => path !== GIT && /(['"`])(?:[^'"`\s]*\/)?git\1/.test(text))
    .map(({ path }) => `${path} names git as a program`)
  const calls = sources
    .filter(({ path, edges, text }) => !GIT_CALLERS.includes(path) && edges.some(({ to }) => to === GIT) && /\brunGit\b/.test(text))
    .map(({ path }) => `${path} calls runGit`)
  const shells = Object.entries(scripts)
    .filter(([, text]) => /(?:^|[\s;&|(])git\s/m.test(text.replaceAll(/^\s*#.*$/gm, '')))
    .map(([path]) => `${path} calls git`)
  return [...named, ...calls, ...shells]
}

/** Each of them opens a path as it is: it waits at a pipe, reads a device without end, follows a link, and knows no bound. */
const OPENERS = /\b(?:(?:read|write|append|copy)File(?:Sync)?|open(?:Sync|AsBlob)?|create(?:Read|Write)Stream|truncate(?:Sync)?|cp(?:Sync)?)\b/

/** Who may open a path without `lib/file.ts`, and what that is. The list may only get shorter. */
const OPENS: Readonly<Record<string, string>> = {
  'lib/file.ts': 'the way itself',
  'lib/kernel-file.ts': 'files of the kernel, and nothing else',
  'observe/proc.ts': 'files of /proc, into a buffer that is used again',
  'observe/ports.ts': 'tables of /proc/net, a page at a time',
  'cli/start/answer.ts': 'the terminal of the caller',
  'keep/daemon/socket-path.ts': 'a folder',
  'keep/harness/prompt-file.ts': 'a file that a person names, which may well be a pipe',
  'keep/keeper/seal-descriptors.ts': '/dev/null',
  'keep/notify/notifiers.ts': 'a terminal, without waiting',
  'keep/tmux/pane-gate.ts': 'a pipe that was just made, without waiting',
}

/** Files that open paths past `lib/file.ts`, and entries of the list that are not needed any more. */
export function opensPastLib(sources: readonly Source[], known: Readonly<Record<string, string>> = OPENS): string[] {
  const found = sources.flatMap(({ path, text }) => {
    const names = [...text.matchAll(/import\s+([^'"]*?)\s+from\s+['"](?:node:)?fs(?:\/promises)?['"]/g)].map((match) => match[1] ?? '')
    const whole = names.some((list) => !list.startsWith('{') && !list.startsWith('type ')) || /(?:require|import)\(['"](?:node:)?fs/.test(text)
    return whole || names.some((list) => OPENERS.test(list)) ? [path] : []
  })
  return [
    ...found.filter((path) => known[path] === undefined).map((path) => `${path} opens files past lib/file.ts`),
    ...Object.keys(known)
      .filter((path) => !found.includes(path))
      .map((path) => `${path} opens nothing any more: take it off the list`),
  ]
}

/**
 * Shell that opens a file of a run directory so that it may wait: `>`, `>>` or `<`, but not `<>`, which never waits for the other end of a pipe.
 * What lies there must have been looked at first (`[ -f`, `hf_plain`).
 */
export function waitsAtPipe(script: string): string[] {
  const lines = script.split('\n').map((line) => (/^\s*#/.test(line) ? '' : line))
  return lines.filter((line, index) =>
    [...line.matchAll(/(?<![<>])(?:>>|>|<)"\$hf_dir\/(\w+)/g)].some(
      ([, name = '']) => !lines.slice(0, index + 1).some((near) => near.includes(`[ -f "$hf_dir/${name}" ]`) || near.includes(`hf_plain ${name}`)),
    ),
  )
}
