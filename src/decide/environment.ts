/** The variables of `names` that belong to some harness's session: exact names, or families ending in `*`. */
export function sessionVariables(names: readonly string[], table: readonly string[]): string[] {
  const exact = new Set(table.filter((entry) => !entry.endsWith('*')))
  const families = table.filter((entry) => entry.endsWith('*')).map((entry) => entry.slice(0, -1))
  return names.filter((name) => exact.has(name) || families.some((prefix) => name.startsWith(prefix)))
}
