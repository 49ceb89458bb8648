/**
 * By what it is proven who the caller is, strongest first. `cookie`: its environment has the run's secret and epoch, and it carries the
 * marker; `marker`: it carries that alone; `process`: it was started by the very process that is on record; `registry`: the harness itself
 * lists the agent that it was started by, with the start of that very process.
 */
export type SelfProof = 'cookie' | 'marker' | 'process' | 'registry'
