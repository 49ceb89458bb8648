import type { Harness } from '../../model/index.ts'

/** Any command: of which nothing is known, and nothing is guessed. */
export const generic: Harness = {
  name: 'generic',
  title: 'any command',
  commands: [],
  program: { names: [] },
  speech: { preset: null, resume: null, chooses: [], idAfter: [], forks: [], headless: null, keeps: { flags: [], valued: [] } },
  resumeIn: 'same',
  sessionVariables: [],
  idVariable: null,
  capture: [],
  sessions: null,
  registry: null,
  zeroAfter: [],
  usage: null,
  daemonizes: [],
  hooks: null,
}
