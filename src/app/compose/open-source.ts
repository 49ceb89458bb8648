import { secretsOf } from '../../keep/index.ts'
import { Problem, type SecretRef, type Source } from '../../model/index.ts'
import { httpSource, STANDARD } from '../../source/index.ts'
import type { World } from '../world/world.ts'

/** `token`: null sends no credential at all. */
export function openHttpSource({ env, host }: Pick<World, 'env' | 'host'>, name: string, url: string, token: SecretRef | null): Source {
  const secrets = secretsOf(env)
  const read = async (): Promise<string | null> => (token === null ? null : secrets.read(token))
  return httpSource({ name, url: urlOf(url), token: read, host, worker: `${host}:${process.pid}` }, STANDARD)
}

/** A token goes over an encrypted line, or stays on this machine. */
function urlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isHere = url !== null && /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(url.hostname)
  if (url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isHere)) && url.username === '' && url.password === '') return text
  throw new Problem('source-url-invalid', `${JSON.stringify(text)} is no URL that a token may be sent to`, {
    hint: 'give an https URL without a user name; http is allowed on loopback',
  })
}
