import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Source = { readonly path: string; readonly room: string; readonly text: string; readonly imports: readonly string[] }

const SPECIFIER =
  /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s+['"]([^'"]+)['"]|(?:^|\n)\s*import\s+['"]([^'"]+)['"]|require\(['"]([^'"]+)['"]\)|import\(['"]([^'"]+)['"]\)/g

/** Every TypeScript file of src/, with what it imports. */
export function sources(): Source[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => {
      const text = readFileSync(join('src', path), 'utf8')
      const imports = [...text.matchAll(SPECIFIER)].map((match) => match.slice(1).find((group) => group !== undefined) ?? '')
      return { path, room: path.split('/')[0] ?? '', text, imports }
    })
}

/** The code without comments and strings, for rules about words. */
export const codeOf = (text: string): string =>
  text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\/\/.*$/gm, '')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
