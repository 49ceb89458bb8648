import { Problem } from '../../model/index.ts'

export type Recorder = (write: () => Promise<boolean>) => Promise<void>

/** A busy, full or read-only store only means that somebody else will record it; after one refusal it is not asked again. */
export function recordInPassing(): Recorder {
  let refused = false
  return async (write) => {
    if (refused) return
    try {
      await write()
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      refused = true
    }
  }
}
