export * from './end-run.ts'
export * from './end-tree.ts'
export * from './look.ts'
