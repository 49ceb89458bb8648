import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openConfig } from '../../src/app/compose/config.ts'
import { NOTIFY_DEFAULT, NOTIFY_KINDS } from '../../src/model/index.ts'

const home = mkdtempSync(join(tmpdir(), 'hf-config-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
function read(text: string) {
  writeFileSync(join(home, 'config.toml'), text)
  const config = openConfig(home)
  return { notify: config.notify(), trouble: config.trouble() }
}

describe('[notify]', () => {
  test('nobody has to say anything', () => {
    expect(openConfig(join(home, 'none')).notify()).toEqual({ desktop: true, bell: false, command: null, on: NOTIFY_KINDS })
    expect(read('[notify]\n')).toEqual({ notify: NOTIFY_DEFAULT, trouble: null })
  })
  test('is as it is said', () => {
    expect(read('[notify]\ndesktop = false\nbell = true\ncommand = ["tell", ""]\non = ["budget", "input"]\n')).toEqual({
      notify: { desktop: false, bell: true, command: ['tell', ''], on: ['input', 'budget'] },
      trouble: null,
    })
    expect(read('[notify]\non = []\n').notify.on).toEqual([])
  })
  test.each([
    ['notify = 1', /notify is a table/],
    ['[notify]\nloud = true', /unknown key "notify\.loud"/],
    ['[notify]\ndesktop = "yes"', /notify\.desktop is true or false/],
    ['[notify]\nbell = 1', /notify\.bell is true or false/],
    ['[notify]\ncommand = "notify-me --loud"', /notify\.command is a list of words/],
    ['[notify]\ncommand = []', /notify\.command is a list of words/],
    ['[notify]\ncommand = [""]', /notify\.command is a list of words/],
    ['[notify]\ncommand = ["a", 1]', /notify\.command is a list of words/],
    ['[notify]\non = "input"', /notify\.on is a list of any of "input", "finished", "refused", "orphan", "budget"/],
    ['[notify]\non = ["all"]', /notify\.on is a list of any of/],
  ])('%s is told, and left out of account', (text, trouble) => {
    expect(read(`${text}\n`)).toEqual({ notify: NOTIFY_DEFAULT, trouble: expect.stringMatching(trouble) })
  })
})
