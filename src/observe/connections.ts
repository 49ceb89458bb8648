import type { Connections } from '../model/index.ts'
import { holdersOf, livesIn, umaskOf } from './connection.ts'
import { hasOpen, lockHolder } from './held-file.ts'

export const linuxConnections: Connections = { holders: holdersOf, livesIn, umask: umaskOf, hasOpen, lockHolder }
