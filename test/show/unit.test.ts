import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { authorOf, systemdUnit, systemdWord, withHash } from '../../src/show/index.ts'

const SPEC = { name: 'holdfast.service', home: '/h/a b', node: '/n/node', command: '/c/cli.cjs', path: '/bin:/usr/bin' }
const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

describe('a systemd unit', () => {
  const unit = systemdUnit(SPEC)

  test('lets the sessions live, is started again with a limit, and not where that is useless', () => {
    for (const line of [
      'KillMode=process',
      'Restart=on-failure',
      'RestartSec=5',
      'RestartPreventExitStatus=64 75',
      'UMask=0077',
      'WantedBy=default.target',
      'Delegate=yes',
      'WorkingDirectory=/',
    ])
      expect(unit.split('\n'), line).toContain(line)
    const [before = '', service = ''] = unit.split('[Service]')
    // systemd reads the limit in the section before, and nowhere else.
    expect(before).toMatch(/\[Unit\][\s\S]*StartLimitIntervalSec=300\nStartLimitBurst=5/)
    expect(service).not.toContain('StartLimit')
  })

  test('names what is started by absolute paths, as whole words', () => {
    expect(unit).toContain('\nExecStart=:"/n/node" "/c/cli.cjs" "daemon" "run" "--by" "service"\n')
    expect(unit).toContain('\nEnvironment="HOLDFAST_HOME=/h/a b" "PATH=/bin:/usr/bin"\n')
  })

  test('any word is read by systemd as it was', () => {
    const read = (text: string): string => {
      const inner = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text)?.[1]
      if (inner === undefined || /(?<!%)(?:%%)*%(?!%)/.test(inner)) throw new Error(`not one word: ${text}`)
      return inner.replaceAll(/\\(.)/g, '$1').replaceAll('%%', '%')
    }
    for (const text of ['a b', '100%', '%h', '%%', 'a"b', 'a\\b', '\\', "it's", '$HOME $X', 'ä€', ';', '#'])
      expect(read(systemdWord(text))).toBe(text)
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom('a', ' ', '%', '"', '\\', '$', "'") }), (text) => read(systemdWord(text)) === text))
  })
})

test('whose a unit is, its own hash tells', () => {
  const text = systemdUnit(SPEC)
  const ours = withHash(text, digest)
  expect(authorOf(ours, digest)).toBe('ours')
  expect(authorOf(ours.replace('/c/cli.cjs', '/c/other.cjs'), digest)).toBe('edited')
  expect(authorOf(`${ours}\n`, digest)).toBe('edited')
  expect(authorOf(text, digest)).toBe('edited')
  expect(authorOf('[Service]\nExecStart=/bin/true\n', digest)).toBe('foreign')
  expect(withHash(ours, digest)).not.toBe(text)
})
