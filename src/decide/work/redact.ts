/** Words that are secrets by their form, and values that stand behind the name of one. */
const SECRETS = [
  /\b(?:sk|pk|rk)-[\w-]{16,}/g,
  /\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}/g,
  /\bxox[abeoprs]-[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z\d]{16}\b/g,
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
]
const NAMED =
  /\b([\w-]*(?:password|passwd|secret|token|api[_-]?key|authorization)[\w-]*["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token)\s+)?)([^\s"',;]{4,})/gi
const IN_URL = /(:\/\/[^\s/:@]+:)[^\s/@]+(?=@)/g
const HIDDEN = '[hidden]'

/** A text for people without the secrets that an agent may have printed. */
export const redacted = (text: string): string =>
  SECRETS.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text)
    .replaceAll(IN_URL, `$1${HIDDEN}`)
    .replaceAll(NAMED, `$1${HIDDEN}`)
