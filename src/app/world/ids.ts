import { randomBytes, randomUUID } from 'node:crypto'
import { LINEAGE_VARIABLE, MARKER_SPAN, markerFrom } from '../../model/index.ts'

export const newRunId = (): string => `r${randomBytes(6).toString('hex')}`
export const newRequestId = (): string => `w${randomBytes(6).toString('hex')}`
export const newFeedbackId = (): string => `f${randomBytes(6).toString('hex')}`
export const newMarker = (kind: 'run' | 'helper'): number => markerFrom(randomBytes(6).readUIntBE(0, 6) % MARKER_SPAN, kind)
export const newCookie = (): string => randomUUID()

/** Ours, of the run around us: a child gets its own. */
export const OWN_VARIABLES: readonly string[] = [
  'HOLDFAST_FRONT',
  'HOLDFAST_SESSION',
  'HOLDFAST_RUN',
  'HOLDFAST_EPOCH',
  'HOLDFAST_FENCE',
  LINEAGE_VARIABLE,
  'OLDPWD',
]
