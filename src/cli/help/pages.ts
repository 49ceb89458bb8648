import { TABLE } from '../table.ts'
import { manPage } from './man.ts'
import { referencePage } from './reference.ts'

/** The pages of docs/ that are printed from the table, by path. */
export const pages = (): Readonly<Record<string, string>> => ({
  'docs/reference/commands.md': referencePage(TABLE),
  'docs/holdfast.1': manPage(TABLE),
})
