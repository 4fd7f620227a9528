import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'
import { tarEntry } from '../tarball.ts'

export interface TarballRegistry {
  /**
   * The line of an .npmrc with which npm asks this registry for our packages, and the usual one for all
   * others.
   */
  readonly npmrc: string
  close(): void
}

/**
 * Starts a registry on this machine that serves only these tarballs, for `npm test`: tarballs that depend on
 * each other can only be installed by name. A release publishes to verdaccio instead (local-registry.ts),
 * which needs hundreds of packages itself.
 */
export async function serveTarballs(tarballs: Iterable<string>): Promise<TarballRegistry> {
  const answers = new Map<string, { readonly type: string; readonly body: Buffer }>()
  const server = createServer((request, response) => {
    const answer = answers.get(decodeURIComponent(request.url ?? ''))
    if (request.method !== 'GET' || answer === undefined) response.writeHead(404).end('{}')
    else response.writeHead(200, { 'content-type': answer.type }).end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const tarball of tarballs) {
    const body = readFileSync(tarball)
    const path = `/-/${basename(tarball)}`
    const manifest = JSON.parse(tarEntry(tarball, 'package/package.json').toString())
    const integrity = `sha512-${createHash('sha512').update(body).digest('base64')}`
    const described = {
      name: manifest.name,
      'dist-tags': { latest: manifest.version },
      versions: { [manifest.version]: { ...manifest, dist: { tarball: `${url}${path}`, integrity } } },
    }
    answers.set(path, { type: 'application/octet-stream', body })
    answers.set(`/${manifest.name}`, {
      type: 'application/json',
      body: Buffer.from(JSON.stringify(described)),
    })
  }
  return {
    npmrc: `@tandem-gpu:registry=${url}/\n`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
