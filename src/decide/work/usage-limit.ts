/** The sentences with which agents say that their account has used up what it may. */
const LIMITS = [
  /usage limit reached/i,
  /(?:hit|reached|exceeded) your (?:[\w-]+ )?(?:usage )?limit/i,
  /(?:5-hour|weekly|daily|session) limit reached/i,
  /quota exceeded for quota metric/i,
  /you have (?:exhausted|run out of) your (?:capacity|quota|credits)/i,
]
/** It is the last that such an agent says. Further up it may be the matter that the agent works on. */
const LINES = 5
const HOUR = 3_600_000
const MAX_MS = 8 * 24 * HOUR

/** Whether the last lines of an agent say that it came to its usage limit. `until`: when that has passed, if it says so. */
export function usageLimit(lastWords: string | null, now: number): { readonly until: number | null } | null {
  const lines = (lastWords ?? '').split('\n').filter((line) => line.trim() !== '')
  const last = lines.slice(-LINES).join('\n')
  if (!LIMITS.some((limit) => limit.test(last))) return null
  const until = byStamp(last) ?? byWait(last, now) ?? byClock(last, now)
  return { until: until !== null && until > now && until - now <= MAX_MS ? until : null }
}

/** `…limit reached|1760000000`, in seconds. */
function byStamp(text: string): number | null {
  const stamp = /\|(\d{10})\b/.exec(text)?.[1]
  return stamp === undefined ? null : Number(stamp) * 1_000
}

/** `try again in 3 days 2 hours 5 minutes` */
function byWait(text: string, now: number): number | null {
  const said = /(?:again|resets?) in ((?:about )?(?:\d+ ?(?:d(?:ays?)?|h(?:ours?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)\b[ ,and]*)+)/i.exec(
    text,
  )?.[1]
  if (said === undefined) return null
  const units: Readonly<Record<string, number>> = { d: 24 * HOUR, h: HOUR, m: 60_000, s: 1_000 }
  let ms = 0
  for (const [, count, unit] of said.matchAll(/(\d+) ?([dhms])/gi)) ms += Number(count) * (units[(unit ?? '').toLowerCase()] ?? 0)
  return ms === 0 ? null : now + ms
}

/** `resets 3pm` or `resets at 14:30`, in local time. */
function byClock(text: string, now: number): number | null {
  const [, hour, minute, half] = /resets?(?: at)? (\d{1,2})(?::(\d\d))? ?(am|pm)?\b/i.exec(text) ?? []
  if (hour === undefined || (minute === undefined && half === undefined)) return null
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  if (hours > 23 || Number(minute ?? 0) > 59) return null
  const at = new Date(now)
  at.setHours(hours, Number(minute ?? 0), 0, 0)
  return at.getTime() > now ? at.getTime() : at.getTime() + 24 * HOUR
}
