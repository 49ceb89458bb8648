// Stands in for a dev server that an agent's tool starts: listens on loopback until it is ended. `dev.mjs FILE` puts `PID PORT` there.
import { renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

const file = process.argv[2]
const server = createServer((_, out) => out.end('dev'))
server.listen(0, '127.0.0.1', () => {
  writeFileSync(`${file}.new`, `${process.pid} ${server.address().port}\n`)
  renameSync(`${file}.new`, file)
})
