import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findProgram } from '../../src/lib/index.ts'

test('a program is an executable file', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hf-programs-')))
  try {
    const folders = ['folder', 'text', 'program'].map((name) => join(root, name))
    for (const folder of folders) mkdirSync(folder)
    const [folder = '', text = '', program = ''] = folders.map((place) => join(place, 'x'))
    mkdirSync(folder)
    writeFileSync(text, '#!/bin/sh\n', { mode: 0o644 })
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
    const path = ['/nowhere', ...folders].join(':')
    expect(findProgram('x', '/', path)).toBe(program)
    const without = folders.slice(0, 2).join(':')
    expect(findProgram('x', '/', without)).toBeNull()
    expect(['text/x', 'folder/x', 'program/x'].map((name) => findProgram(name, root))).toEqual([null, null, program])
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})
