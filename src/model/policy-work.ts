/** The numbers of requests, sources and workflows. */
export const workPolicy = {
  /** A call to a source or surface takes so long and brings so much at most. */
  sourceCallMs: 20_000,
  sourceCallBytes: 8 * 1024 * 1024,
  /** Pauses after failed calls; after a refused credential only a person can help, so they are long. No pause of the other side is kept for longer. */
  sourceRetryMinMs: 2_000,
  sourceRetryMaxMs: 300_000,
  sourceAuthMinMs: 300_000,
  sourceAuthMaxMs: 1_800_000,
  sourcePauseMs: 3_600_000,
  /** A source hears of so many requests in one pass at most. Text from it is cut. */
  sourceBatch: 50,
  requestsShown: 10_000,
  /** Steps of one request in one pass, claims of one pass, and endings that are looked at for the same failure again. */
  requestSteps: 12,
  claimsInPass: 100,
  failuresLooked: 200,
  /** Attempts of a request without a workflow, and the pause before the next one. */
  requestAttempts: 3,
  requestRetryMinMs: 5_000,
  requestRetryMaxMs: 300_000,
  /** An agent that reported its result has so long to end by itself. */
  requestFinishMs: 60_000,
  /** A push and a hook fail so often before a person is asked. */
  publishTries: 6,
  hookTries: 3,
  /** So often a worker looks whether an agent stands still. So much processor time is a sign of life. */
  watchEveryMs: 30_000,
  busyCpuMs: 2_000,
  /** A usage limit without a time is tried again after so long; those that wait for the same hour begin apart. */
  limitGuessMs: 3_600_000,
  limitStaggerMs: 60_000,
  /** So much of the end of an agent's output is read for its last words. */
  lastWordsBytes: 8 * 1024,
  /** So often a worker makes a pass. */
  workPaceMs: 5_000,
  /** So many requests of a source may be open here at once, where config.toml says no number. */
  sourceOpen: 10,
  titleChars: 200,
  feedbackChars: 64 * 1024,
  /** A secret is no longer, and a program that tells it takes no longer. */
  secretBytes: 64 * 1024,
  secretMs: 15_000,
  /** The text of a request has so many characters at most. Without `--all`, requests that ended longer ago than this are counted, not listed. */
  requestChars: 256 * 1024,
  workShownMs: 7 * 24 * 3600_000,
  requestEventsShown: 1_000,
  /** An id of a source has so many characters at most. */
  sourceIdChars: 200,
  /** A list of a source has so many pages at most. */
  sourcePages: 50,
  /** A `WORKFLOW.md` has so many bytes at most. Its YAML may repeat so many parts by alias. */
  workflowBytes: 256 * 1024,
  yamlAliases: 100,
  /** Limits of a template: its characters, the milliseconds of its rendering, and the characters of its result. */
  templateBytes: 256 * 1024,
  templateMs: 500,
  templateMemory: 4 * 1024 * 1024,
} as const
