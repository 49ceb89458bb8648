import { readFileSync } from 'node:fs'

/** Where a path is within its file system: what a bind mount shows elsewhere keeps this name. */
export function innerPath(path: string, mounts: readonly Mount[]): string {
  const mount = mounts.findLast(({ at }) => path === at || at === '/' || path.startsWith(`${at}/`))
  if (mount === undefined) return path
  const rest = mount.at === '/' ? path : path.slice(mount.at.length)
  return `${mount.root === '/' ? '' : mount.root}${rest}` || '/'
}

export type Mount = { readonly root: string; readonly at: string }

/** What is mounted where, as this process sees it: shallow before deep, and of those at one place the last one counts. */
export const readMounts = (): readonly Mount[] => parseMounts(readOr('/proc/self/mountinfo'))

export const parseMounts = (text: string): Mount[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '))
    .map(([, , , root = '/', at = '/']) => ({ root: plain(root), at: plain(at) }))
    .toSorted((one, other) => one.at.length - other.at.length)

/** Spaces, tabs, line breaks and backslashes are written as octal. */
const plain = (text: string): string => text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
