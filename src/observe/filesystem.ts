import { statfsSync } from 'node:fs'

/** File systems on which SQLite's locks do not hold between machines (statfs magic numbers). */
const NETWORK: Readonly<Record<number, string>> = {
  0x6969: 'NFS', 0x517b: 'SMB', 0xff534d42: 'CIFS', 0xfe534d42: 'SMB', 0x01021997: '9p', 0x5346414f: 'AFS',
  0x00c36400: 'Ceph', 0x0bd00bd0: 'Lustre', 0x73757245: 'Coda', 0x47504653: 'GPFS',
}

export const networkName = (magic: number): string | null => NETWORK[magic >>> 0] ?? null

/** The name of the network file system a path is on, or null. */
export const networkFileSystem = (path: string): string | null => networkName(Number(statfsSync(path).type))
