export { call } from './call.ts'
export { httpSource } from './http/http-source.ts'
export { STANDARD } from './http/standard.ts'
