import { join } from 'node:path'
import type { Texts } from './help/index.ts'

/** The texts of help and completion lie beside this bundle. */
export const texts = (): Texts => (require(join(__dirname, 'help.cjs')) as { readonly texts: Texts }).texts
