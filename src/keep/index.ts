export * from './files.ts'
export * from './keepers.ts'
