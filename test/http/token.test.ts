import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { daemonToken, openWorld } from '../../src/app/index.ts'
import { verifies } from '../requirements.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hf-token-'))
  mkdirSync(join(home, 'daemon'))
})
afterEach(() => rmSync(home, { recursive: true }))
const path = (): string => join(home, 'daemon', 'token')

verifies('private', 'the token is made once, for its user alone, and kept', () => {
  const token = daemonToken(home)
  expect(token).toMatch(/^[0-9a-f]{64}$/)
  expect(statSync(path()).mode & 0o777).toBe(0o600)
  expect(daemonToken(home)).toBe(token)
  expect(readFileSync(path(), 'utf8')).toBe(`${token}\n`)
  expect(readdirSync(join(home, 'daemon'))).toEqual(['token'])
})

verifies('private', 'one that others could read, or that is none, is made anew; a link is not followed', () => {
  const first = daemonToken(home)
  chmodSync(path(), 0o644)
  const second = daemonToken(home)
  expect(second).not.toBe(first)
  expect(statSync(path()).mode & 0o777).toBe(0o600)
  for (const text of ['', 'short', `${second}0`, second.toUpperCase()]) {
    writeFileSync(path(), text)
    expect(daemonToken(home)).not.toBe(text)
  }
  const elsewhere = join(home, 'elsewhere')
  writeFileSync(elsewhere, `${'0'.repeat(64)}\n`, { mode: 0o600 })
  rmSync(path())
  symlinkSync(elsewhere, path())
  expect(() => daemonToken(home)).toThrow(/cannot be used: it is a symbolic link/)
  expect(readFileSync(elsewhere, 'utf8')).toBe(`${'0'.repeat(64)}\n`)
})

test('a home that was removed does not come back by it', () => {
  rmSync(join(home, 'daemon'), { recursive: true })
  expect(() => daemonToken(home)).toThrow(/cannot be used: .*ENOENT/)
  expect(readdirSync(home)).toEqual([])
})

test('where config.toml wants the daemon, and what makes no sense there', () => {
  const portWith = (toml: string): unknown => {
    const world = openWorld({ assets: 'dist', home: join(home, 'home') })
    writeFileSync(join(home, 'home', 'config.toml'), toml)
    try {
      return world.daemonPort()
    } catch (error) {
      return (error as Error).message
    } finally {
      world.close()
    }
  }
  expect(portWith('')).toBeNull()
  expect(portWith('[daemon]\n')).toBeNull()
  expect(portWith('[daemon]\nport = 7440\n')).toBe(7440)
  for (const wrong of ['0', '80', '65536', '7440.5', '"7440"', 'true', '-1'])
    expect(portWith(`[daemon]\nport = ${wrong}\n`), wrong).toMatch(/daemon\.port is a number from 1024 to 65535/)
  expect(portWith('[daemon]\nhost = "0.0.0.0"\n')).toMatch(/unknown key "daemon\.host"/)
  expect(portWith('daemon = 7\n')).toMatch(/daemon is a table/)
})
