import { readKernel } from '../lib/index.ts'
import type { Mount } from '../model/index.ts'

/** Where a path is within its file system: what a bind mount shows elsewhere keeps this name. */
export function innerPath(path: string, mounts: readonly Mount[]): string {
  const mount = mounts.findLast(({ at }) => path === at || at === '/' || path.startsWith(`${at}/`))
  if (mount === undefined) return path
  const rest = mount.at === '/' ? path : path.slice(mount.at.length)
  return `${mount.root === '/' ? '' : mount.root}${rest}` || '/'
}

/** What is mounted where, as this process sees it: shallow before deep, and of those at one place the last one counts. */
export const readMounts = (): readonly Mount[] => parseMounts(readKernel('/proc/self/mountinfo') ?? '')

export const parseMounts = (text: string): Mount[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '))
    .map(([, , numbers = '', root = '/', at = '/']) => ({ device: deviceOf(numbers), root: plain(root), at: plain(at) }))
    .toSorted((one, other) => one.at.length - other.at.length)

/** `major:minor`, as one number. */
function deviceOf(numbers: string): string {
  const [major = 0n, minor = 0n] = numbers.split(':').map((number) => BigInt(number || 0))
  return String(((major & ~0xfffn) << 32n) | ((major & 0xfffn) << 8n) | ((minor & ~0xffn) << 12n) | (minor & 0xffn))
}

/** What is mounted below a path, by its inner place. */
export const mountedBelow = (path: string, mounts: readonly Mount[]): string[] =>
  mounts.filter(({ at }) => at !== path && at.startsWith(path === '/' ? path : `${path}/`)).map(({ device, root }) => `${device}@${root}`)

/** Spaces, tabs, line breaks and backslashes are written as octal. */
const plain = (text: string): string => text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
