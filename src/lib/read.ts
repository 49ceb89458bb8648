import { readdirSync } from 'node:fs'
import { orNull } from './or-null.ts'

/** The names in a folder; none where it cannot be read. */
export const namesIn = (folder: string): string[] => orNull(() => readdirSync(folder)) ?? []
