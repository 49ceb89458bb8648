import { join } from 'node:path'
import { readSettings, removeSettings } from '../../keep/index.ts'
import type { Environment } from '../../model/index.ts'
import type { ShellFiles } from '../maintenance/uninstall.ts'

export const shellFiles = (env: Environment): ShellFiles => ({
  takeOut: () =>
    completionFiles(env).filter((path) => {
      if (!OURS.test(textOf(path))) return false
      removeSettings(path, [])
      return true
    }),
  mentions: () => SHELL_FILES.map((name) => join(env['HOME'] ?? '', name)).filter((path) => env['HOME'] !== undefined && MENTIONS.test(textOf(path))),
})

/** Only what says that we printed it. */
const OURS = /^(#compdef holdfast\n)?# \w+ completion for holdfast\. Printed by: holdfast completion /
const MENTIONS = /^\s*[^#\s].*\bholdfast\b/m
const SHELL_FILES = ['.bashrc', '.bash_profile', '.profile', '.zshrc', '.config/fish/config.fish']

/** Where `completion --help` tells people to put the scripts. */
function completionFiles(env: Environment): string[] {
  const home = env['HOME']
  if (home === undefined || home === '') return []
  const data = env['XDG_DATA_HOME'] || join(home, '.local', 'share')
  const config = env['XDG_CONFIG_HOME'] || join(home, '.config')
  return [
    join(data, 'bash-completion', 'completions', 'holdfast'),
    join(home, '.zfunc', '_holdfast'),
    join(config, 'fish', 'completions', 'holdfast.fish'),
  ]
}

function textOf(path: string): string {
  const file = readSettings(path)
  return file !== null && 'text' in file ? file.text : ''
}
