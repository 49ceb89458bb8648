import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openConfig } from '../../src/app/compose/config.ts'
import { NOTIFY_DEFAULT, NOTIFY_KINDS, WORK_DEFAULT } from '../../src/model/index.ts'

const home = mkdtempSync(join(tmpdir(), 'hf-config-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
function read(text: string) {
  writeFileSync(join(home, 'config.toml'), text)
  const config = openConfig(home)
  return { notify: config.notify(), trouble: config.trouble() }
}

describe('[pid_files.NAME]', () => {
  test('describes files of other tools', () => {
    writeFileSync(join(home, 'config.toml'), '[pid_files.mytool]\npath = "~/.mytool/{pid}.json"\n')
    const config = openConfig(home)
    expect([config.toolPidFiles().map(({ name }) => name), config.trouble()]).toEqual([['mytool'], null])
  })
  test.each([
    ['pid_files = 1', /pid_files is a table/],
    ['[pid_files.claude]\npath = "/x/{pid}"', /knows an agent of that name/],
    ['[pid_files.Tool]\npath = "/x/{pid}"', /a name is of small letters/],
    ['[pid_files.t]', /path: it is needed/],
    ['[pid_files.t]\npath = "run/{pid}"', /path: it is needed: an absolute path/],
    ['[pid_files.t]\npath = "/x/run.json"', /with \{pid\} once/],
    ['[pid_files.t]\npath = "/x/{pid}/run.json"', /in the name of the file/],
    ['[pid_files.t]\npath = "/x/{pid}-{pid}"', /with \{pid\} once/],
    ['[pid_files.t]\npath = "/x/../{pid}"', /path: it is needed/],
    ['[pid_files.t]\npath = "/x/{pid}"\nstart = 1', /start: it must be the name of the field/],
    ['[pid_files.t]\npath = "/x/{pid}"\nage = "1d"', /age: there is no such key; the keys are path and start/],
  ])('%s is told, and left out of account', (text, trouble) => {
    writeFileSync(join(home, 'config.toml'), `${text}\n`)
    const config = openConfig(home)
    expect([config.toolPidFiles(), config.trouble()]).toEqual([[], expect.stringMatching(trouble)])
  })
})

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
    ['[notify]\non = "input"', /notify\.on is a list of any of "input", "finished", "refused", "orphan", "budget", "unwatched"/],
    ['[notify]\non = ["all"]', /notify\.on is a list of any of/],
  ])('%s is told, and left out of account', (text, trouble) => {
    expect(read(`${text}\n`)).toEqual({ notify: NOTIFY_DEFAULT, trouble: expect.stringMatching(trouble) })
  })
})

describe('[work] and [source.NAME]', () => {
  const open = (text: string) => {
    writeFileSync(join(home, 'config.toml'), text)
    return openConfig(home)
  }
  test('without a table the defaults hold', () => {
    const config = open('')
    expect([config.work(), config.sources()]).toEqual([WORK_DEFAULT, []])
  })
  test('every key is read, and a source takes what it does not say from [work]', () => {
    const config = open(`
      [work]
      daemon = false
      agent = ["claude", "--permission-mode", "acceptEdits"]
      at_once = 5
      per_repository = 2
      per_label = { "size=large" = 1 }
      publish = "branch"
      review = true
      rework = 0
      usage_limit = "ask"
      [source.plane]
      url = "http://127.0.0.1:9"
      token_env = "PLANE_TOKEN"
      repositories = { "o/r" = "/r" }
      labels = ["agent"]
      open = 4`)
    expect(config.work()).toEqual({
      daemon: false,
      agent: ['claude', '--permission-mode', 'acceptEdits'],
      limits: { atOnce: 5, perRepository: 2, perLabel: { 'size=large': 1 } },
      publish: 'branch',
      review: true,
      reworkLimit: 0,
      usageLimit: 'ask',
    })
    expect(config.sources()).toEqual([
      {
        name: 'plane',
        kind: 'http',
        url: 'http://127.0.0.1:9',
        token: { env: 'PLANE_TOKEN' },
        repo: null,
        repositories: { 'o/r': '/r' },
        labels: ['agent'],
        harness: 'claude',
        publish: 'branch',
        review: true,
        reworkLimit: 0,
        open: 4,
      },
    ])
    expect(config.trouble()).toBeNull()
  })
  test.each([
    ['work = 1', /work is a table: \[work\]/],
    ['[work]\nat_once = 0', /work\.at_once is a number from 1 to 1000/],
    ['[work]\nagent = "claude"', /work\.agent is a list of words/],
    ['[work]\npublish = "pull-request"', /work\.publish is one of "none", "branch"/],
    ['[work]\nidle = 1', /unknown key "work\.idle"/],
    ['[source.Plane]\nurl = "http://h"', /a name is of small letters/],
    ['[source.p]\nagent = "claude"', /source\.p\.url is needed/],
    ['[source.p]\nurl = "http://h"', /source\.p\.agent is needed/],
    ['[source.p]\nurl = "http://h"\nagent = "claude"\nrepo = "here"', /source\.p\.repo is an absolute path/],
    ['[source.p]\nurl = "http://h"\nagent = "claude"\ntoken_env = "A"\ntoken_file = "/b"', /more than one of token_file/],
  ])('%j starts no request', (text, why) => {
    const config = open(text)
    expect(() => [config.work(), config.sources()]).toThrow(why)
    expect(config.trouble()).toMatch(why)
  })
})
