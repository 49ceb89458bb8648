/**
 * Markers are values of RLIMIT_RTTIME (soft, microseconds): inherited through setsid, double fork and `env -i`,
 * world-readable, and without effect on anything that is not scheduled in real time. All of ours lie in one
 * range, so that a marker of another run, or of another home, is recognised as "not mine": the innermost decides.
 */
export const MARKER_BASE = 4_000_000_000_000_000
export const MARKER_SPAN = 0x1_0000_0000_0000

export const isMarker = (value: number): boolean => value >= MARKER_BASE && value < MARKER_BASE + MARKER_SPAN

/** `random48` is a whole number below 2^48. */
export const markerFrom = (random48: number): number => MARKER_BASE + random48

/** The secrets of all runs a process was born in, outermost first; the last one is its own. */
export const innermostCookie = (lineage: string): string => lineage.slice(lineage.lastIndexOf(':') + 1)

export const LINEAGE_VARIABLE = 'HOLDFAST_LINEAGE'
/** Runs started by runs started by runs: a hook that starts an agent that fires the hook ends here. */
export const MAX_LINEAGE = 16
