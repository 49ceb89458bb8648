export { readForeignDatabase } from './foreign.ts'
export { openSqliteStore } from './sqlite/index.ts'
