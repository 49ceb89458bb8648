import { Problem } from '../model/index.ts'

/** Refusals of the system that no code of ours can help, with the way to help oneself. */
const REFUSALS: Readonly<Record<string, string>> = {
  EACCES: 'see who may read and write there',
  EAGAIN: 'end some processes, or raise their number: ulimit -u',
  EDQUOT: 'free space',
  EFBIG: 'raise the size that files may have: ulimit -f',
  EIO: 'see what the disk says: dmesg',
  EMFILE: 'raise the number of open files: ulimit -n',
  ENFILE: 'end some processes: the whole system has too many open files',
  ENOMEM: 'end some processes: there is no memory left',
  ENOSPC: 'free space',
  EPERM: 'see who may do that here',
  EROFS: 'make the file system writable',
  ESTALE: 'mount the file system anew',
}

/** The fault of the world that an error tells of; null: it is none, but a bug. */
export function faultOf(error: unknown): Problem | null {
  if (!(error instanceof Error)) return null
  const { code = '', syscall = '' } = error as { code?: unknown; syscall?: unknown }
  if (typeof code !== 'string' || typeof syscall !== 'string' || syscall === '') return null
  // A descriptor of our caller has a number that no child may have.
  const hint = syscall.startsWith('spawn') && code === 'EINVAL' ? REFUSALS['EMFILE'] : REFUSALS[code]
  return hint === undefined ? null : new Problem('system-refused', `the system refused it: ${error.message}`, { hint, cause: error })
}
