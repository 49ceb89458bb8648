import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { completionsFor } from '../../src/app/index.ts'
import { loadSqlite } from '../../src/record/driver.ts'
import { verifies } from '../requirements.ts'

verifies('visible', 'a shell is offered ids alone, whatever somebody wrote into the store', () => {
  const home = mkdtempSync(join(tmpdir(), 'hf-completion-'))
  try {
    const { DatabaseSync } = loadSqlite()
    const database = new DatabaseSync(join(home, 'holdfast.db'))
    database.exec('CREATE TABLE session (id, name, dir, epoch); CREATE TABLE run (session, epoch, state, started_at)')
    const ids = ['good', '$(touch x)', 'a b', "it's", '\u001B[2J', '-x', 'x\ny', '../x']
    for (const id of ids) {
      database.prepare('INSERT INTO session VALUES (?, ?, ?, 1)').run(id, '\u001B[2J', '/d\u202E\n')
      database.prepare("INSERT INTO run VALUES (?, 1, 'running', 1)").run(id)
    }
    database.close()
    for (const kind of ['session', 'live-session']) expect(completionsFor(kind, home)).toEqual([{ word: 'good', about: '·[2J · running · /d··' }])
  } finally {
    rmSync(home, { recursive: true })
  }
})
