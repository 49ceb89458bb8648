export { type Alone, lookAlone, takeAlone } from './exclusive-file.ts'
export { readForeignDatabase } from './foreign-database.ts'
export { openSqliteStore } from './sqlite/index.ts'
export { type StoreWatch, storeWatch } from './store-changed.ts'
