/** A checked step of a source's protocol. */
export type CheckedStep = {
  readonly step: string
  readonly expects: string
  readonly passed: boolean
  readonly found: string | null
  readonly leftOut?: true
}

export function sourceCheckText(url: string, steps: readonly CheckedStep[]): string[] {
  const failed = steps.filter(({ passed }) => !passed).length
  const lines = steps.map(({ step, expects, passed, found, leftOut }) => {
    if (leftOut === true) return `left   ${step}: needs ${expects} (--item ID)`
    return passed ? `fine   ${step}: ${expects}` : `wrong  ${step}: expected ${expects}, found ${found ?? 'something else'}`
  })
  const sum =
    failed === 0 ? `${url} answers as the protocol says` : `${url}: ${failed} of ${steps.length} steps are wrong; see docs/reference/http-source.md`
  return [...lines, sum]
}

export const sourceCheckJson = (url: string, steps: readonly CheckedStep[]): object => ({
  url,
  passed: steps.every(({ passed }) => passed),
  steps: steps.map(({ step, expects, passed, found, leftOut }) => ({ step, expects, passed, found, leftOut: leftOut === true })),
})
