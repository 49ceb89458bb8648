/** Limits of what a person is told. */
export const tellingPolicy = {
  /** A turn that was shorter is no news when it is over; nor is what happened longer ago than that. */
  turnMs: 10_000,
  notifyAgeMs: 10 * 60_000,
  /** A person is told of one session and kind so often (what comes sooner waits), and of everything so many times in that time; the rest is counted. */
  notifySameMs: 30_000,
  notifyCount: 10,
  notifyWithinMs: 60_000,
  /** So many wait for their time, or for a way that fails, the newest of them; each is tried so often, for so long, and each text has so many characters. */
  notifyQueue: 20,
  notifyTries: 3,
  notifyRunMs: 10_000,
  notifyLength: 240,
} as const
