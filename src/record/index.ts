export { openSqliteStore } from './sqlite/index.ts'
