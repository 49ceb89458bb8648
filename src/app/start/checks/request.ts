import { ID_GRAMMAR, isSessionId, Problem } from '../../../model/index.ts'
import type { Check } from './check.ts'

export const commandMissing: Check<'request'> = {
  name: 'command-missing',
  when: ['request'],
  check: ({ asked }) =>
    !Array.isArray(asked.argv) || ((asked.harness ?? 'generic') === 'generic' && (asked.argv.length === 0 || asked.argv[0] === ''))
      ? new Problem('command-missing', 'there is no command to run', {
          hint: 'holdfast run [options] claude, codex…, or: holdfast run [options] -- COMMAND [ARGUMENTS…]',
        })
      : null,
}

export const idInvalid: Check<'request'> = {
  name: 'session-id-invalid',
  when: ['request'],
  check: ({ asked }) => {
    const wrong = [asked.session, asked.name].find((id) => id !== undefined && !isSessionId(id))
    return wrong === undefined
      ? null
      : new Problem('session-id-invalid', `${JSON.stringify(wrong)} cannot name a session`, { hint: `use ${ID_GRAMMAR}` })
  },
}

export const dirEmpty: Check<'request'> = {
  name: 'dir-empty',
  when: ['request'],
  check: ({ asked }) =>
    asked.dir === '' ? new Problem('option-value-missing', '--dir needs a directory', { hint: 'leave it out for the current one' }) : null,
}

export const processesHidden: Check<'request'> = {
  name: 'processes-hidden',
  when: ['request'],
  check: ({ world }) =>
    world.processes.here().pidNamespace === ''
      ? new Problem('pid-namespace-foreign', '/proc shows another pid namespace than ours, so no process could be told from another', {
          hint: 'mount it anew: unshare --mount-proc, or mount -t proc proc /proc',
        })
      : null,
}
