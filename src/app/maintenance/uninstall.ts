import { join } from 'node:path'
import { readSettings, removeSettings } from '../../keep/index.ts'
import { type Environment, type HookChange, Problem, type Remainder, type Uninstalled } from '../../model/index.ts'
import { stopDaemon } from '../daemon/control.ts'
import { uninstallService } from '../daemon/service.ts'
import { hooksStatus, uninstallHooks } from '../hooks/install-hooks.ts'
import type { World } from '../world/world.ts'

/** Takes out of this account what Holdfast put outside its home. Each of it can be put in again. Trouble with one keeps no other. */
export async function uninstall(world: World): Promise<Uninstalled> {
  const trouble: { message: string; hint: string | null }[] = []
  const orTell = async <T>(doIt: () => T | Promise<T>): Promise<T | null> => {
    try {
      return await doIt()
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      trouble.push({ message: error.message, hint: error.hint })
      return null
    }
  }
  const hooks: HookChange[] = []
  for (const { harness, path, state, trouble: why } of hooksStatus(world)) {
    if (state === 'other')
      trouble.push({ message: `${path} has hooks of another Holdfast`, hint: `holdfast hooks uninstall ${harness} takes them out` })
    if (state === 'unreadable') trouble.push({ message: `whether ${path} has hooks cannot be told: ${why}`, hint: null })
    const change = state === 'installed' || state === 'outdated' ? await orTell(() => uninstallHooks(world, harness)) : null
    if (change !== null) hooks.push(change)
  }
  const service = await orTell(() => uninstallService(world, false))
  const daemon = await orTell(() => stopDaemon(world))
  return {
    hooks,
    service: service?.did === 'removed' ? service : null,
    daemon: daemon?.kind === 'stopped' ? daemon.pid : null,
    completions: completionFiles(world.env).filter(takeOutOurs),
    left: remainders(world),
    trouble,
  }
}

/** Where `completion --help` tells people to put the scripts. */
function completionFiles(env: Environment): string[] {
  const home = env['HOME'] ?? ''
  if (home === '') return []
  const data = env['XDG_DATA_HOME'] || join(home, '.local', 'share')
  const config = env['XDG_CONFIG_HOME'] || join(home, '.config')
  return [
    join(data, 'bash-completion', 'completions', 'holdfast'),
    join(home, '.zfunc', '_holdfast'),
    join(config, 'fish', 'completions', 'holdfast.fish'),
  ]
}

/** Only what says that we printed it. */
function takeOutOurs(path: string): boolean {
  const file = readSettings(path)
  if (
    file === null ||
    !('text' in file) ||
    !/^(#compdef holdfast\n)?# \w+ completion for holdfast\. Printed by: holdfast completion /.test(file.text)
  )
    return false
  removeSettings(path, [])
  return true
}

function remainders({ home, env, worktreesFolder, directories }: World): Remainder[] {
  const worktrees = directories.entries(worktreesFolder).filter((name) => !name.startsWith('.'))
  const started = SHELL_FILES.map((name) => join(env['HOME'] ?? '', name)).filter((path) => {
    const file = readSettings(path)
    return file !== null && 'text' in file && /^\s*[^#\s].*\bholdfast\b/m.test(file.text)
  })
  return [
    { what: 'sessions, logs and config.toml', path: home },
    ...worktrees.map((name) => ({ what: 'a worktree, perhaps with work in it', path: join(worktreesFolder, name) })),
    ...started.map((path) => ({ what: 'a line about holdfast, which only you may remove', path })),
  ]
}

const SHELL_FILES = ['.bashrc', '.bash_profile', '.profile', '.zshrc', '.config/fish/config.fish']
