import fc from 'fast-check'

/** The same histories in every run, so that a test is red for what was changed. Others: HF_SEED=NUMBER, or HF_SEED=random, as `npm run test:long` has it. */
const DEFAULT_SEED = 20

const asked = process.env['HF_SEED'] ?? String(DEFAULT_SEED)
// A failure prints its seed by itself.
if (asked !== 'random') fc.configureGlobal({ seed: Number(asked) })
