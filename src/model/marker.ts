/**
 * Markers are values of RLIMIT_RTTIME (soft, microseconds): inherited through setsid, double fork and `env -i`, world-readable, and
 * without effect on anything that is not scheduled in real time. A run's own processes carry its marker, and those of a run started inside it
 * carry another. Any process can read and set one, so a marker alone decides nothing against another proof. All of ours lie in one range.
 */
export const MARKER_BASE = 4_000_000_000_000_000
export const MARKER_SPAN = 0x1_0000_0000_0000

/** A run's own, or a command's that may become one: it counts as another run's only once a run on record has it. */
export const isRunMarker = (value: number): boolean => value >= MARKER_BASE && value < MARKER_BASE + MARKER_SPAN
/** Given to helpers, so that they do not carry the run's. It proves nothing about who has it. */
export const isHelperMarker = (value: number): boolean => value >= MARKER_BASE + MARKER_SPAN && value < MARKER_BASE + 2 * MARKER_SPAN
export const isMarker = (value: number): boolean => isRunMarker(value) || isHelperMarker(value)

/** `random48` is a whole number below 2^48. */
export const markerFrom = (random48: number, kind: 'run' | 'helper'): number => MARKER_BASE + (kind === 'run' ? 0 : MARKER_SPAN) + random48

/** The secrets of all runs a process was born in, outermost first; the last one is its own. */
export const innermostCookie = (lineage: string): string => lineage.slice(lineage.lastIndexOf(':') + 1)

export const LINEAGE_VARIABLE = 'HOLDFAST_LINEAGE'
/** Runs started by runs started by runs: a hook that starts an agent that fires the hook ends here. */
export const MAX_LINEAGE = 16
