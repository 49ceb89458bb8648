import { statfsSync } from 'node:fs'

/** File systems on which SQLite's locks do not hold between machines (statfs magic numbers). */
const NETWORK: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB',
  16914839: '9p',
  1397113167: 'AFS',
  12805120: 'Ceph',
  198183888: 'Lustre',
  1937076805: 'Coda',
  1196443219: 'GPFS',
}

export const networkName = (magic: number): string | null => NETWORK[magic >>> 0] ?? null

/** The name of the network file system a path is on, or null. */
export const networkFileSystem = (path: string): string | null => networkName(Number(statfsSync(path).type))

/** What lies behind these may be another machine, or another system of this one. */
const OPAQUE: Readonly<Record<number, string>> = { 1702057286: 'FUSE', 2020557398: 'vboxsf' }

/** Who else than this machine may write there, in words; null: nobody. */
export function sharedFileSystem(path: string): string | null {
  try {
    const magic = Number(statfsSync(path).type)
    return networkName(magic) ?? OPAQUE[magic >>> 0] ?? null
  } catch (error) {
    return `a file system that cannot be asked (${(error as NodeJS.ErrnoException).code})`
  }
}
