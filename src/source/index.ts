export { type CallAnswer, type CallRequest, call } from './call.ts'
export { type HttpSourceConfig, httpSource } from './http/http-source.ts'
export { STANDARD } from './http/standard.ts'
