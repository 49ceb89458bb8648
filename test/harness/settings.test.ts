import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../src/harness/hooks/jsonc.ts'
import { addHooks, findHooks, hookCommand, isHookCommand, removeHooks, settingsTrouble, undoHooks } from '../../src/harness/index.ts'

const hooksFrom = (script: string) => [
  { event: 'SessionStart', command: hookCommand(script, 'claude', 'session-start') },
  { event: 'PreToolUse', command: hookCommand(script, 'claude', 'before-tool') },
  { event: 'SessionEnd', command: hookCommand(script, 'claude', 'session-end') },
]
const OURS = hooksFrom("/opt/hold fast's/dist/hook.sh")
const EVENTS = OURS.map(({ event }) => event)

describe('every way to write settings', () => {
  /** `structural`: exact also when nobody remembers what was put in. */
  const written: readonly { name: string; text: string; structural: boolean }[] = [
    { name: 'nothing', text: '', structural: false },
    { name: 'an empty line', text: '\n', structural: false },
    { name: 'a byte order mark', text: '\uFEFF{"a":1}', structural: true },
    { name: 'a byte order mark and nothing', text: '\uFEFF', structural: false },
    { name: 'an empty object', text: '{}', structural: true },
    { name: 'an empty object over two lines', text: '{\n}\n', structural: false },
    { name: 'two spaces', text: '{\n  "model": "x",\n  "env": { "A": "1" }\n}\n', structural: true },
    { name: 'tabs, no last newline', text: '{\n\t"model": "x"\n}', structural: true },
    { name: 'CRLF', text: '{\r\n    "model": "x"\r\n}\r\n', structural: true },
    { name: 'one line', text: '{"a":1,"b":[1,2]}', structural: true },
    { name: 'one airy line', text: '{ "a": 1, "b": 2 }', structural: true },
    { name: 'a comma too many', text: '{\n  "a": 1,\n}\n', structural: true },
    { name: 'a comma too many on one line', text: '{"a":1,}', structural: true },
    { name: 'comments', text: '// top\n{\n  // first\n  "a": 1 /* one */, // note\n  "b": 2 // last\n  // end\n}\n// bottom', structural: true },
    { name: 'a comment behind a line without a newline before it', text: '{"a":1 // c\n}', structural: true },
    { name: 'only a comment inside', text: '{ /* none yet */ }', structural: true },
    { name: 'only a line comment inside', text: '{ // none yet\n}', structural: true },
    {
      name: 'hooks of others',
      text: '{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"true"}]}]}}',
      structural: true,
    },
    {
      name: 'hooks over lines',
      text: '{\n  "hooks": {\n    "PreToolUse": [\n      {\n        "hooks": []\n      }\n    ]\n  },\n  "z": 1\n}\n',
      structural: true,
    },
    { name: 'empty hooks', text: '{\n  "hooks": {}\n}\n', structural: false },
    { name: 'an empty list', text: '{\n  "hooks": {\n    "PreToolUse": []\n  }\n}\n', structural: false },
    { name: 'the same key twice', text: '{"hooks":{"Stop":[]},"a":1,"hooks":{"PreToolUse":[{"hooks":[]}]}}', structural: true },
    { name: 'text that looks like ours', text: `{"note":${JSON.stringify(OURS[0]?.command)}}`, structural: true },
    { name: 'odd characters', text: '{"ключ":"\\u0000 \\" é 😀"}', structural: true },
  ]
  for (const { name, text, structural } of written)
    test(name, () => {
      expect(settingsTrouble(text, EVENTS)).toBeNull()
      const added = addHooks(text, OURS)
      expect(sorted(findHooks(added.text, isHookCommand))).toEqual(sorted(OURS))
      expect(settingsTrouble(added.text, EVENTS)).toBeNull()
      expect(isSubsequence(text, added.text)).toBe(true)
      expect(undoHooks(added.text, added.steps)).toBe(text)
      const removed = removeHooks(added.text, isHookCommand, null)
      expect(findHooks(removed, isHookCommand)).toEqual([])
      if (structural) expect(removed).toBe(text)
    })
})

test('what is no object is refused, with the reason', () => {
  for (const text of [
    '[]',
    '1',
    '"x"',
    'null',
    '{',
    '{"a":1}}',
    '{"a":}',
    '{a:1}',
    "{'a':1}",
    '{"a":1 "b":2}',
    '{,}',
    '// only a comment',
    '{"a":01}',
    '{"a":"\n"}',
  ])
    expect(settingsTrouble(text, EVENTS), text).toBe('it is no JSON object')
  expect(settingsTrouble('{"hooks":[]}', EVENTS)).toBe('its "hooks" is no object')
  expect(settingsTrouble('{"hooks":{"PreToolUse":{}}}', EVENTS)).toBe('its "hooks"."PreToolUse" is no list')
  expect(settingsTrouble(`{"a":${'['.repeat(300)}${']'.repeat(300)}}`, EVENTS)).toBe('it is no JSON object')
})

test('ours are written in the way of the file', () => {
  expect(addHooks('{\n\t"a": 1, // note\n}\n', OURS.slice(1, 2)).text).toBe(
    `{\n\t"a": 1, // note\n\t"hooks": {\n\t\t"PreToolUse": [\n\t\t\t{\n\t\t\t\t"hooks": [\n\t\t\t\t\t{\n\t\t\t\t\t\t"type": "command",\n\t\t\t\t\t\t"command": ${JSON.stringify(OURS[1]?.command)}\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t},\n}\n`,
  )
  expect(addHooks('{"a":1}', OURS.slice(1, 2)).text).toBe(
    `{"a":1,"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":${JSON.stringify(OURS[1]?.command)}}]}]}}`,
  )
  expect(addHooks('{\n  "a": 1 // one\n}', OURS.slice(1, 2)).text).toMatch(/^\{\n {2}"a": 1, \/\/ one\n {2}"hooks": \{\n[\s\S]*\n {2}\}\n\}$/)
})

test('hooks of others keep their places', () => {
  const { text } = addHooks('{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"a"}]}]}}', OURS)
  const groups = (JSON.parse(text) as { hooks: Record<string, { hooks: { command: string }[] }[]> }).hooks['PreToolUse']
  expect(groups?.map((group) => group.hooks[0]?.command)).toEqual(['a', OURS[1]?.command])
})

test('what somebody wrote beside, behind and into ours stays', () => {
  const { text, made } = addHooks('{"a":1}', OURS)
  const document = JSON.parse(text) as { hooks: Record<string, { hooks: unknown[] }[]>; [key: string]: unknown }
  document['b'] = 2
  document.hooks['Stop'] = []
  document.hooks['PreToolUse']?.push({ hooks: [{ type: 'command', command: 'other' }] })
  document.hooks['SessionEnd']?.[0]?.hooks.unshift({ type: 'command', command: 'mine' })
  for (const remembered of [made, null])
    expect(JSON.parse(removeHooks(JSON.stringify(document, null, 3), isHookCommand, remembered))).toEqual({
      a: 1,
      hooks: {
        PreToolUse: [{ hooks: [{ type: 'command', command: 'other' }] }],
        SessionEnd: [{ hooks: [{ type: 'command', command: 'mine' }] }],
        Stop: [],
      },
      b: 2,
    })
})

test('a comment that somebody wrote around ours stays, and ends where it did', () => {
  const hook = JSON.stringify({ hooks: [{ type: 'command', command: OURS[1]?.command }] })
  const around = (inner: string): string => `{"hooks":{"PreToolUse":[${inner}]}}`
  const table: readonly [string, string][] = [
    [`{"hooks":[]} /* a */, /* b */ ${hook} /* c */`, '{"hooks":[]} /* a */ /* b */ /* c */'],
    [`${hook} /* c */, {"hooks":[]}`, ' /* c */ {"hooks":[]}'],
    [`${hook} /* c */,`, ' /* c */'],
    [`{"hooks":[]}, // a\n${hook}`, '{"hooks":[]} // a\n'],
  ]
  for (const [before, after] of table) expect(removeHooks(around(before), isHookCommand, []), before).toBe(around(after))
})

test('lists that were there before stay, as long as somebody remembers', () => {
  const before = '{"hooks":{"PreToolUse":[]},"z":1}'
  const { text, made } = addHooks(before, OURS)
  expect(made).toEqual(['hooks.SessionStart', 'hooks.SessionEnd'])
  expect(removeHooks(`${text}\n`, isHookCommand, made)).toBe(`${before}\n`)
  expect(removeHooks(text, isHookCommand, null)).toBe('{"z":1}')
})

test('an older place of Holdfast is known by its command, and by nothing less', () => {
  const { text } = addHooks('{}', hooksFrom('/old/dist/hook.sh'))
  expect(findHooks(text, isHookCommand)).toHaveLength(3)
  expect(removeHooks(text, isHookCommand, null)).toBe('{}')
  for (const command of ['echo $HOLDFAST_FENCE', 'sh /x/hook.sh', `[ -z "\${HOLDFAST_FENCE-}" ] || true`])
    expect(isHookCommand(command), command).toBe(false)
})

/** Any JSON object, written with any spaces, comments and commas. */
const space = fc.constantFrom('', '', ' ', '\n', '\n  ', '\t', '\r\n\t', ' /* c */ ', ' // c\n', '\n// "hooks"\n')
const written = (depth: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.oneof(fc.json({ maxDepth: 0 }), fc.constantFrom('1', 'true', '"//"', '"/*"', '"{"')) },
    ...(depth === 0
      ? []
      : [
          { weight: 1, arbitrary: list(depth) },
          {
            weight: 1,
            arbitrary: object(
              depth,
              fc.string().map((key) => JSON.stringify(key)),
            ),
          },
        ]),
  )
const joined = (items: fc.Arbitrary<string>, open: string, close: string): fc.Arbitrary<string> =>
  fc.tuple(fc.array(fc.tuple(space, items, space), { maxLength: 3 }), fc.boolean(), space).map(([all, comma, end]) => {
    const inner = all.map((words) => words.join('')).join(',')
    return `${open}${inner}${comma && all.length > 0 ? ',' : ''}${end}${close}`
  })
const list = (depth: number): fc.Arbitrary<string> => joined(written(depth - 1), '[', ']')
const object = (depth: number, keys: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  joined(
    fc.tuple(keys, space, space, written(depth - 1)).map(([key, a, b, value]) => `${key}${a}:${b}${value}`),
    '{',
    '}',
  )
const groups = joined(fc.constantFrom('{"hooks":[]}', '{"matcher":"Bash","hooks":[{"type":"command","command":"true"}]}', '{}'), '[', ']')
const hooksObject = joined(
  fc.tuple(fc.constantFrom('"PreToolUse"', '"SessionStart"', '"Stop"'), space, groups).map(([key, gap, value]) => `${key}:${gap}${value}`),
  '{',
  '}',
)
const settings = fc
  .tuple(
    fc.constantFrom('', '\uFEFF'),
    space,
    joined(
      fc.oneof(
        fc
          .tuple(
            fc
              .string()
              .filter((key) => key !== 'hooks')
              .map((key) => JSON.stringify(key)),
            space,
            written(2),
          )
          .map(([key, gap, value]) => `${key}${gap}:${value}`),
        fc.tuple(space, hooksObject).map(([gap, value]) => `"hooks":${gap}${value}`),
      ),
      '{',
      '}',
    ),
    space,
  )
  .map((parts) => parts.join(''))

test('any settings: what goes in comes out, nothing else changes, and twice is once', () => {
  fc.assert(
    fc.property(settings, (text) => {
      expect(settingsTrouble(text, EVENTS)).toBeNull()
      const added = addHooks(text, OURS)
      expect(sorted(findHooks(added.text, isHookCommand))).toEqual(sorted(OURS))
      expect(isSubsequence(text, added.text)).toBe(true)
      expect(undoHooks(added.text, added.steps)).toBe(text)
      const removed = removeHooks(added.text, isHookCommand, added.made)
      expect(squeezed(removed)).toBe(squeezed(text))
    }),
    { numRuns: 2000 },
  )
})

test('what JSON.parse takes is taken, and nothing else (but comments and a last comma)', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string(), fc.stringMatching(/^[[\]{}",:01ae.\-\\ ]{0,12}$/)), (text) => {
      let valid = true
      try {
        JSON.parse(text)
      } catch {
        valid = false
      }
      if (valid) expect(parseJson(text)).not.toBeNull()
      else if (parseJson(text) !== null) expect(text).toMatch(/,\s*[\]}]|\/\/|\/\*/)
    }),
    { numRuns: 5000 },
  )
})

const sorted = (hooks: readonly { event: string; command: string }[]) => hooks.map(({ event, command }) => `${event} ${command}`).toSorted()

/** All that was there is still there, in its order. */
function isSubsequence(part: string, whole: string): boolean {
  let at = 0
  for (const character of whole) if (part.startsWith(character, at)) at += character.length
  return at === part.length
}

/** Without the space inside brackets that hold nothing: that is all that may be lost when somebody else wrote meanwhile. */
const squeezed = (text: string): string => text.replaceAll(/([[{])[ \t\r\n]*(?=[\]}])/g, '$1')

test('a string that is never closed is told at once, however long', () => {
  const began = performance.now()
  expect(parseJson(`{"a": "${'x'.repeat(400_000)}`)).toBeNull()
  expect(parseJson(`{"a": "${'x\\n'.repeat(200_000)}`)).toBeNull()
  expect(performance.now() - began).toBeLessThan(30_000)
})
