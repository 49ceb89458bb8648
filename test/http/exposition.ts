/** The text exposition format 0.0.4 as it is published: line by line, strictly. Throws what is wrong. */
export type Parsed = Map<string, { type: string; help: string; readings: { labels: Record<string, string>; value: number }[] }>

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*/

export function parseExposition(text: string): Parsed {
  if (!text.endsWith('\n')) throw new Error('the last line must end with a line feed')
  const families: Parsed = new Map()
  const seen = new Set<string>()
  let current = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line)
    if (comment !== null) {
      const [, kind = '', name = '', rest = ''] = comment
      const family = families.get(name) ?? { type: '', help: '', readings: [] }
      if (family.readings.length > 0) throw new Error(`${kind} of ${name} comes after its readings`)
      if (kind === 'HELP' && family.help !== '') throw new Error(`a second HELP of ${name}`)
      if (kind === 'TYPE' && family.type !== '') throw new Error(`a second TYPE of ${name}`)
      if (kind === 'TYPE' && !/^(counter|gauge|histogram|summary|untyped)$/.test(rest)) throw new Error(`no type: ${rest}`)
      if (kind === 'HELP') family.help = unescaped(rest, '\\n')
      else family.type = rest
      families.set(name, family)
      current = name
      continue
    }
    if (line.startsWith('#') || line === '') throw new Error(`nobody needs: ${JSON.stringify(line)}`)
    const name = NAME.exec(line)?.[0]
    if (name === undefined) throw new Error(`no name: ${line}`)
    if (name !== current) throw new Error(`the readings of ${name} are not together under their TYPE`)
    const { labels, rest } = labelsIn(line.slice(name.length))
    const value = /^ (NaN|[+-]Inf|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)$/.exec(rest)?.[1]
    if (value === undefined) throw new Error(`no value: ${line}`)
    const key = `${name} ${JSON.stringify(Object.entries(labels).toSorted())}`
    if (seen.has(key)) throw new Error(`twice: ${line}`)
    seen.add(key)
    families.get(name)?.readings.push({ labels, value: Number(value.replace('Inf', 'Infinity')) })
  }
  return families
}

function labelsIn(text: string): { labels: Record<string, string>; rest: string } {
  const labels: Record<string, string> = {}
  if (!text.startsWith('{')) return { labels, rest: text }
  let left = text.slice(1)
  while (!left.startsWith('}')) {
    const name = LABEL.exec(left)?.[0]
    const value = name === undefined ? undefined : /^="((?:[^"\\\n]|\\["\\n])*)"/.exec(left.slice(name.length))
    if (name === undefined || value == null) throw new Error(`no label: ${left}`)
    if (name in labels) throw new Error(`the label ${name} twice`)
    labels[name] = unescaped(value[1] ?? '', '\\n"')
    left = left.slice(name.length + value[0].length)
    if (left.startsWith(',')) left = left.slice(1)
    else if (!left.startsWith('}')) throw new Error(`no comma: ${left}`)
  }
  return { labels, rest: left.slice(1) }
}

function unescaped(text: string, known: string): string {
  return text.replaceAll(/\\(.?)/g, (_, next: string) => {
    if (next === '' || !known.includes(next)) throw new Error(`no escape: \\${next}`)
    return next === 'n' ? '\n' : next
  })
}
