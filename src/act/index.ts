export * from './end-run.ts'
export * from './end-tree.ts'
export { dismissKeeper } from './keeper.ts'
export * from './look.ts'
