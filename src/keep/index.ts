export * from './containers.ts'
export * from './files.ts'
export * from './keepers.ts'
export * from './worktrees.ts'
