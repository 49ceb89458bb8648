export * from './environment.ts'
export * from './spare.ts'
