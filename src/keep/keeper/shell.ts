/** One word for a POSIX shell, whatever is in it. */
export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Names a shell can export; the kernel allows others, which a shell drops by itself. */
export const isShellName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
