import type { Capture, Harness, HeadlessSpeech, Words } from '../model/index.ts'
import { HARNESSES } from './agents/all.ts'
import { generic } from './agents/generic.ts'
import { words } from './recognise/words.ts'

/** A harness that a person defined: the table `[harness.NAME]` of a file. Whatever it does not understand is an error that says what would be. */
export function harnessFrom(name: string, table: unknown, where: string): Harness {
  if (!/^[a-z][a-z\d-]{0,31}$/.test(name))
    throw wrong(where, name, null, 'a name is of small letters, digits and -, begins with a letter, and has at most 32 of them')
  if (HARNESSES.some((harness) => harness.name === name || harness.commands.includes(name)))
    throw wrong(where, name, null, 'Holdfast knows a harness of that name already, choose another')
  if (typeof table !== 'object' || table === null || Array.isArray(table)) throw wrong(where, name, null, 'it must be a table')
  const unknown = Object.keys(table).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) throw wrong(where, name, unknown, `there is no such key; the keys are ${KEYS.join(', ')}`)
  return build(name, new Table(table as Readonly<Record<string, unknown>>, (key, allowed) => wrong(where, name, key, allowed)))
}

const KEYS = words(
  'command preset resume headless headless_resume prompt chooses id_after forks keeps_flags keeps_valued resume_in variables id_variable output_id process_names zero_after',
)

/** Nothing starts, or is found, without these. */
const NEEDED = words(
  'PATH HOME PWD SHELL USER LOGNAME TERM LANG TMPDIR HOLDFAST_HOME HOLDFAST_SESSION HOLDFAST_RUN HOLDFAST_EPOCH HOLDFAST_FENCE HOLDFAST_LINEAGE',
)

const wrong = (where: string, name: string, key: string | null, allowed: string): Error =>
  new Error(`${where}: [harness.${name}]${key === null ? '' : ` ${key}`}: ${allowed}`)

function build(name: string, table: Table): Harness {
  const commands = table.words('command', 'one executable, or a list of them')
  if (commands.length === 0) throw table.wrong('command', 'it is needed: one executable, or a list of them')
  const preset = table.template('preset', ['{id}'])
  const idVariable = table.text('id_variable', /^[A-Za-z_]\w*$/, 'the name of a variable')
  const outputId = table.text('output_id', /^[\w-]+(\.[\w-]+)*$/, 'the name of a field, or a path of names with dots')
  const idAfter = [
    ...new Set([...table.words('id_after', 'a list of words'), ...(preset ?? []).filter((word) => word.startsWith('-') && !word.includes('{'))]),
  ]
  const variables = table.words('variables', 'a list of names of variables, or of families ending in *', /^[A-Za-z_]\w*\*?$/)
  const needed = [...variables, ...(idVariable === null ? [] : [idVariable])].find((name) =>
    NEEDED.some((one) => (name.endsWith('*') ? one.startsWith(name.slice(0, -1)) : one === name)),
  )
  if (needed !== undefined) throw table.wrong('variables', `${needed} would be taken from every agent, which cannot do without`)
  return {
    ...generic,
    name,
    title: name,
    commands,
    program: {
      names: [
        ...new Set([...commands.map((command) => command.replace(/^.*\//, '')), ...table.words('process_names', 'a list of names', /^[^/]+$/)]),
      ],
    },
    speech: {
      preset,
      resume: table.template('resume', ['{id}', '{args}']),
      chooses: [...new Set([...table.words('chooses', 'a list of words'), ...idAfter])],
      idAfter,
      forks: table.words('forks', 'a list of words'),
      id: ANY_ID,
      headless: headlessFrom(table),
      keeps: { flags: table.words('keeps_flags', 'a list of options', OPTION), valued: table.words('keeps_valued', 'a list of options', OPTION) },
    },
    resumeIn: table.choice('resume_in', ['same', 'any']) ?? 'same',
    sessionVariables: idVariable === null ? variables : [...new Set([...variables, idVariable])],
    idVariable,
    capture: captures(outputId, idVariable),
    zeroAfter: table.words('zero_after', 'a list of SIGTERM and SIGINT', /^SIG(TERM|INT)$/) as Harness['zeroAfter'],
  }
}

const OPTION = /^-[^\s=]+$/
/** Its ids may be anything that is no option, and no word for the newest one. */
const ANY_ID = /^(?!(latest|last)$)[\da-zA-Z_][\w.:-]*$/

const captures = (outputId: string | null, idVariable: string | null): Capture[] => [
  ...(outputId === null ? [] : [{ from: 'output', field: outputId } as const]),
  ...(idVariable === null ? [] : [{ from: 'variable' } as const]),
]

function headlessFrom(table: Table): HeadlessSpeech | null {
  const prompt = table.choice('prompt', ['stdin', 'argument']) ?? 'stdin'
  const prompted = prompt === 'argument' ? ['{prompt}'] : []
  const start = table.template('headless', ['{args}', ...prompted])
  const resume = table.template('headless_resume', ['{id}', '{args}', ...prompted])
  if (start === null && resume !== null) throw table.wrong('headless_resume', 'it needs headless, too')
  return start === null ? null : { start, resume, prompt, marks: start.filter((word) => !word.includes('{')).slice(0, 1) }
}

/** A table's keys, each read with what is allowed. */
class Table {
  constructor(
    private readonly fields: Readonly<Record<string, unknown>>,
    readonly wrong: (key: string, allowed: string) => Error,
  ) {}

  words(key: string, allowed: string, shape = /./): Words {
    const value = this.fields[key] ?? []
    const list: readonly unknown[] = Array.isArray(value) ? value : key === 'command' ? [value] : [null]
    if (!list.every((word): word is string => typeof word === 'string' && shape.test(word))) throw this.wrong(key, `it must be ${allowed}`)
    return list
  }

  text(key: string, shape: RegExp, allowed: string): string | null {
    const value = this.fields[key]
    if (value === undefined) return null
    if (typeof value !== 'string' || !shape.test(value)) throw this.wrong(key, `it must be ${allowed}`)
    return value
  }

  choice<C extends string>(key: string, choices: readonly C[]): C | null {
    const value = this.fields[key]
    const chosen = choices.find((one) => one === value)
    if (value !== undefined && chosen === undefined) throw this.wrong(key, `it must be ${choices.map((one) => `"${one}"`).join(' or ')}`)
    return chosen ?? null
  }

  /** Words with blanks: the needed ones must be there, and no others. `{args}` is a word of its own. */
  template(key: string, needed: Words): Words | null {
    if (this.fields[key] === undefined) return null
    const list = this.words(key, `a list of words with ${needed.join(' and ')}`, /^/)
    const blanks = list.flatMap((word) => word.match(/\{\w*\}/g) ?? [])
    const strange = blanks.find((blank) => !needed.includes(blank))
    const missing = needed.find((blank) => !blanks.includes(blank))
    if (strange !== undefined) throw this.wrong(key, `${strange} means nothing here; its blanks are ${needed.join(' and ')}`)
    if (missing !== undefined) throw this.wrong(key, `${missing} is missing; its blanks are ${needed.join(' and ')}`)
    if (list.some((word) => word.includes('{args}') && word !== '{args}')) throw this.wrong(key, '{args} must be a word of its own')
    return list
  }
}
