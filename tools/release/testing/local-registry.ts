import { mkdtemp, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runServer } from 'verdaccio'

export interface LocalRegistry {
  /** `http://127.0.0.1:PORT/`. */
  readonly url: string
  /**
   * The line of an .npmrc with which npm publishes to this registry: anybody may publish, but npm always
   * requires a token.
   */
  readonly authLine: string
  close(): Promise<void>
}

/**
 * Starts a registry on this machine (verdaccio) with an empty storage folder: it stores the packages
 * published to it, and forwards requests for other packages to `upstream`, except for @tandem-gpu/*.
 */
export async function startLocalRegistry(upstream: string): Promise<LocalRegistry> {
  const folder = await mkdtemp(join(tmpdir(), 'tandem-registry-'))
  const anybody = { access: '$all', publish: '$all', unpublish: '$all' }
  const app = (await runServer({
    configPath: join(folder, 'config.yaml'),
    self_path: folder,
    storage: join(folder, 'storage'),
    auth: { htpasswd: { file: join(folder, 'htpasswd') } },
    uplinks: { upstream: { url: upstream, timeout: '60s', maxage: '60m', cache: true } },
    packages: { '@tandem-gpu/*': anybody, '**': { ...anybody, proxy: 'upstream' } },
    max_body_size: '100mb',
    web: { enable: false },
    middlewares: {},
    log: { type: 'stdout', format: 'pretty', level: 'fatal' },
  } as never)) as Server
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
  const { port } = app.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    authLine: `//127.0.0.1:${port}/:_authToken=anybody`,
    async close() {
      app.closeAllConnections()
      await new Promise((resolve) => app.close(resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
