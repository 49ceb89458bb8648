/** How often what was asked for, and answered how. */
export type Counter = {
  add(url: string, code: number): void
  all(): { readonly route: string; readonly code: number; readonly count: number }[]
}

export const ROUTES = ['/healthz', '/version', '/metrics', '/mcp'] as const

/** What is none of ours counts as one: nobody can make it grow by asking. */
export function countRequests(): Counter {
  const counts = new Map<string, { route: string; code: number; count: number }>()
  return {
    add(url, code) {
      const path = url.split('?', 1)[0]
      const route = ROUTES.find((one) => one === path) ?? 'other'
      const key = `${route} ${code}`
      const known = counts.get(key) ?? { route, code, count: 0 }
      known.count++
      counts.set(key, known)
    },
    all: () => [...counts.values()],
  }
}
