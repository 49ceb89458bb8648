export { sha256 } from './hash.ts'
export { findProgram } from './program.ts'
export { namesIn, orNull, readText } from './read.ts'
