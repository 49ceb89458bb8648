import { describe, expect, test } from 'vitest'
import { activityFrom, type Signs } from '../../src/decide/index.ts'
import type { ActivityState } from '../../src/model/index.ts'

const NOW = 1_000_000
const QUIET = 10_000
const at = (state: ActivityState, since: number) => ({ state, since })
const seen = (signs: Partial<Signs>) => activityFrom({ hook: null, registry: null, outputAt: null, headless: false, ...signs }, NOW, QUIET)

describe('what an agent is at', () => {
  test.each<[string, Partial<Signs>, ReturnType<typeof seen>]>([
    ['nobody says anything', {}, null],
    ['its hook says', { hook: at('waiting', 5) }, { state: 'waiting', since: 5, how: 'hook' }],
    ['its registry says', { registry: at('idle', 5) }, { state: 'idle', since: 5, how: 'registry' }],
    ['a hook goes before all output', { hook: at('idle', 5), outputAt: NOW }, { state: 'idle', since: 5, how: 'hook' }],
    [
      'an answer that no hook tells of: the registry is later',
      { hook: at('waiting', 5), registry: at('busy', 6) },
      { state: 'busy', since: 6, how: 'registry' },
    ],
    ['a turn that somebody interrupted', { hook: at('busy', 5), registry: at('idle', 9) }, { state: 'idle', since: 9, how: 'registry' }],
    ['a registry that is behind', { hook: at('idle', 9), registry: at('busy', 5) }, { state: 'idle', since: 9, how: 'hook' }],
    ['both say the same', { hook: at('idle', 5), registry: at('idle', 9) }, { state: 'idle', since: 5, how: 'hook' }],
    ['at the same time the hook holds', { hook: at('idle', 5), registry: at('busy', 5) }, { state: 'idle', since: 5, how: 'hook' }],
    ['something comes out of it', { outputAt: NOW - QUIET + 1 }, { state: 'busy', since: null, how: 'output' }],
    ['nothing has come out of it for long', { outputAt: NOW - QUIET }, { state: 'idle', since: NOW - QUIET, how: 'output' }],
    ['one that ends with its answer may be silent and at work', { outputAt: 5, headless: true }, null],
    ['and it speaks while it works', { outputAt: NOW, headless: true }, { state: 'busy', since: null, how: 'output' }],
  ])('%s', (_what, signs, expected) => expect(seen(signs)).toEqual(expected))

  test('silence never says that somebody is waited for', () => {
    for (const outputAt of [0, NOW - QUIET, NOW, NOW + 5])
      for (const headless of [true, false]) expect(seen({ outputAt, headless })?.state).not.toBe('waiting')
  })
})
