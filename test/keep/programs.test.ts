import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findProgram } from '../../src/keep/programs.ts'
import { findProgram as findFrom } from '../../src/observe/read.ts'

test('a program is an executable file, whoever looks for it', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hf-programs-')))
  try {
    const folders = ['folder', 'text', 'program'].map((name) => join(root, name))
    for (const folder of folders) mkdirSync(folder)
    const [folder = '', text = '', program = ''] = folders.map((place) => join(place, 'x'))
    mkdirSync(folder)
    writeFileSync(text, '#!/bin/sh\n', { mode: 0o644 })
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
    const path = ['/nowhere', ...folders].join(':')
    expect([findProgram('x', path), findFrom('x', '/', path)]).toEqual([program, program])
    const without = folders.slice(0, 2).join(':')
    expect([findProgram('x', without), findFrom('x', '/', without)]).toEqual([null, null])
    expect(['text/x', 'folder/x', 'program/x'].map((name) => findFrom(name, root))).toEqual([null, null, program])
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})
