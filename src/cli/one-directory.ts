import { Problem } from '../model/index.ts'
import type { Parsed } from './options.ts'

export function oneDirectory({ words }: Parsed, verb: string): string {
  const [dir, ...more] = words
  if (dir === undefined || dir === '' || more.length > 0)
    throw new Problem('arguments-wrong', `${verb} takes one directory`, { hint: 'holdfast locks lists those that are held' })
  return dir
}
