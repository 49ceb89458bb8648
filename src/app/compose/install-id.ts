import { join } from 'node:path'
import { readFile } from '../../lib/index.ts'

const INSTALL_BYTES = 4096

/** The id of a home. Throws a FileTrouble. */
export const readInstallId = (home: string): string => readFile(join(home, 'install'), INSTALL_BYTES, 'followed').trim()
