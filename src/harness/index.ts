export * from './agents.ts'
export * from './daemons.ts'
export * from './environment.ts'
export * from './spare.ts'
