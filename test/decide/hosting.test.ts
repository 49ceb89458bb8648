import { expect, test } from 'vitest'
import { elsewhere, versionTrouble } from '../../src/decide/index.ts'
import { verifies } from '../requirements.ts'

test('which tmux can host a run', () => {
  for (const said of ['tmux 3.2', 'tmux 3.2a', 'tmux 3.10', 'tmux 4.0', 'tmux next-3.4', 'tmux openbsd-7.5', 'tmux master'])
    expect(versionTrouble(said), said).toBeNull()
  for (const said of ['tmux 1.8', 'tmux 2.9a', 'tmux 3.0a', 'tmux 3.1c'])
    expect(versionTrouble(said), said).toBe(`${said} is too old: 3.2 or later is needed`)
})

verifies('unknown', 'a run is hosted only where the command is that asks for it; what cannot be compared may be elsewhere', () => {
  expect(elsewhere({})).toBeNull()
  expect(elsewhere({ net: 'same', pid: 'same' })).toBeNull()
  expect(elsewhere({ net: 'other', mnt: 'same', user: 'other', pid: 'unknown' })).toBe('another net, user namespace than this command')
  expect(elsewhere({ net: 'same', pid: 'unknown' })).toBe('namespaces that cannot be looked at from here')
})
