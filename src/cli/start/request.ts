import type { OnLive, StartRequest } from '../../app/index.ts'
import { Problem } from '../../model/index.ts'
import type { Parsed } from '../options.ts'
import { budgetLimit, duration, timeLimit } from '../values.ts'

type Base = Pick<StartRequest, 'argv' | 'session' | 'name' | 'dir' | 'worktree' | 'harness' | 'resume' | 'mayBeAgent'>

/** The request that `CHOICES` make of what is to be started. */
export function requestOf(parsed: Parsed, base: Base): StartRequest {
  const { flags, values } = parsed
  const chosen = (['takeover', 'attach'] as const).filter((name) => flags.has(name))
  if (chosen.length + (values.has('wait') ? 1 : 0) > 1) throw new Problem('options-exclusive', '--takeover, --attach and --wait exclude each other')
  const until = values.get('until')
  if (until !== undefined && until !== 'harness' && until !== 'tree')
    throw new Problem('option-value-invalid', `--until takes harness or tree, not ${until}`)
  const onLive: OnLive = chosen[0] ?? (values.has('wait') ? 'wait' : 'refuse')
  return {
    ...base,
    dir: values.get('dir') ?? base.dir,
    detach: flags.has('detach'),
    tmux: flags.has('tmux'),
    onLive,
    waitMs: duration(parsed, 'wait'),
    force: flags.has('force'),
    share: flags.has('share'),
    allowUnmanaged: flags.has('allow-unmanaged'),
    until,
    independent: flags.has('independent'),
    timeoutMs: timeLimit(parsed),
    ...budgetLimit(parsed),
    prompt: promptIn(parsed),
    graceMs: duration(parsed, 'grace'),
  }
}

function promptIn({ values }: Parsed): StartRequest['prompt'] {
  const [text, file] = [values.get('prompt'), values.get('prompt-file')]
  if (text !== undefined && file !== undefined) throw new Problem('options-exclusive', '--prompt and --prompt-file exclude each other')
  if (text !== undefined) return { text }
  return file === undefined ? undefined : { file }
}
