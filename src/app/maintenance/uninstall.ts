import { join } from 'node:path'
import { type HookChange, Problem, type Remainder, type Uninstalled } from '../../model/index.ts'
import { stopDaemon } from '../daemon/control.ts'
import { uninstallService } from '../daemon/service.ts'
import { hooksStatus, uninstallHooks } from '../hooks/install-hooks.ts'
import type { World } from '../world/world.ts'

/** What lies outside the home for shells: completion scripts that we printed, and files that name us and are a person's own. */
export type ShellFiles = { takeOut(): readonly string[]; mentions(): readonly string[] }

/** Takes out of this account what Holdfast put outside its home. Each of it can be put in again. Trouble with one keeps no other. */
export async function uninstall(world: World, shells: ShellFiles): Promise<Uninstalled> {
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
    completions: shells.takeOut(),
    left: remainders(world, shells),
    trouble,
  }
}

function remainders({ home, worktreesFolder, directories }: World, shells: ShellFiles): Remainder[] {
  const worktrees = directories.entries(worktreesFolder).filter((name) => !name.startsWith('.'))
  return [
    { what: 'sessions, logs and config.toml', path: home },
    ...worktrees.map((name) => ({ what: 'a worktree, perhaps with work in it', path: join(worktreesFolder, name) })),
    ...shells.mentions().map((path) => ({ what: 'a line about holdfast, which only you may remove', path })),
  ]
}
