export { type Alone, lookAlone, takeAlone } from './alone.ts'
export { readForeignDatabase } from './foreign.ts'
export { openSqliteStore } from './sqlite/index.ts'
export { type StoreWatch, storeWatch } from './stamp.ts'
