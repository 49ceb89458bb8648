import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

type Manifest = { name: string; version: string; dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> }

/** A registry on the loopback that has what a package needs at run time, as it lies in `node_modules`. */
export async function withRegistry(body: (url: string) => Promise<void>): Promise<void> {
  const packages = needed(manifestOf('.'))
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1)
    const tarball = packages.get(path.replace(/\/-\.tgz$/, ''))
    if (tarball === undefined) return void response.writeHead(404).end('{}')
    if (path.endsWith('/-.tgz')) return void response.end(packed(tarball.name))
    const { name, version } = tarball
    const dist = { tarball: `http://${request.headers.host}/${name}/-.tgz` }
    response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: { ...tarball, dist } } }))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  try {
    await body(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  } finally {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
}

/** Packages by name: those that are needed, and those that they need. */
function needed(manifest: Manifest, found = new Map<string, Manifest>()): Map<string, Manifest> {
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    if (found.has(name)) continue
    const next = manifestOf(join('node_modules', name))
    found.set(name, next)
    needed(next, found)
  }
  return found
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

const packed = (name: string): Buffer =>
  spawnSync('tar', ['czf', '-', '--transform', 's,^[.],package,', '-C', join('node_modules', name), '.'], { maxBuffer: 1 << 28 }).stdout
