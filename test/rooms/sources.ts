import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** `value`: it is needed when the program runs, and not only by the compiler. */
export type Import = { readonly specifier: string; readonly value: boolean }
export type Source = {
  readonly path: string
  readonly room: string
  readonly text: string
  readonly imports: readonly string[]
  readonly edges: readonly { readonly to: string; readonly value: boolean }[]
}

const SPECIFIER =
  /(?:^|\n)\s*(?:import|export)(\s+type\b)?\s*([^'"]*?)\s*from\s+['"]([^'"]+)['"]|(?:^|\n)\s*import\s+['"]([^'"]+)['"]|require\(['"]([^'"]+)['"]\)|import\(['"]([^'"]+)['"]\)/g

/** Every TypeScript file of src/, with what it imports. */
export function sources(): Source[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => sourceOf(path, readFileSync(join('src', path), 'utf8')))
}

/** Every shell script that is shipped, by its path in src/ or its name. */
export function scripts(): Record<string, string> {
  const paths = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.sh'))
  return Object.fromEntries([
    ...paths.map((path) => [path, readFileSync(join('src', path), 'utf8')]),
    ['bin/holdfast', readFileSync('bin/holdfast', 'utf8')],
  ])
}

export function sourceOf(path: string, text: string): Source {
  const imports = importsIn(text)
  return {
    path,
    room: path.split('/')[0] ?? '',
    text,
    imports: imports.map(({ specifier }) => specifier),
    edges: imports
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier, value }) => ({ to: normalize(join(dirname(path), specifier)), value })),
  }
}

function importsIn(text: string): Import[] {
  return [...text.matchAll(SPECIFIER)].map(([, typeOnly, names, from, bare, required, dynamic]) => ({
    specifier: from ?? bare ?? required ?? dynamic ?? '',
    value: typeOnly === undefined && !isOnlyTypes(names),
  }))
}

/** `{ type A, type B }` costs nothing when the program runs. */
function isOnlyTypes(names: string | undefined): boolean {
  const all = (names ?? '')
    .replaceAll(/[{}]/g, ' ')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
  return all.length > 0 && all.every((name) => name.startsWith('type '))
}

/** The code without comments and strings, for rules about words. */
export const codeOf = (text: string): string =>
  text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\/\/.*$/gm, '')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
