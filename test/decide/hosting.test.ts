import { expect, test } from 'vitest'
import { versionTrouble } from '../../src/decide/index.ts'

test('which tmux can host a run', () => {
  for (const said of ['tmux 3.2', 'tmux 3.2a', 'tmux 3.10', 'tmux 4.0', 'tmux next-3.4', 'tmux openbsd-7.5', 'tmux master'])
    expect(versionTrouble(said), said).toBeNull()
  for (const said of ['tmux 1.8', 'tmux 2.9a', 'tmux 3.0a', 'tmux 3.1c'])
    expect(versionTrouble(said), said).toBe(`${said} is too old: 3.2 or later is needed`)
})
