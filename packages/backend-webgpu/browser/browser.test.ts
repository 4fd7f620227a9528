import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumArguments, findChromium } from './chromium.ts'
import type { Jobs } from './page.ts'

const report = await findChromium()
const missing = 'missing' in report ? report.missing : undefined
/** Milliseconds: what takes longer hangs, on however slow a machine. */
const hangGuard = 600_000

describe.skipIf(missing !== undefined)(`in headless Chromium${missing ? ` (needs ${missing})` : ''}`, () => {
  let server: Server
  let browser: Browser
  let page: Page
  const problems: string[] = []

  beforeAll(async () => {
    if ('missing' in report) return
    const files = await bundle()
    server = createServer((request, response) => {
      const path = request.url === '/' ? 'index.html' : (request.url ?? '').slice(1)
      const content = files.get(path)
      const type = path.endsWith('.html') ? 'text/html' : 'text/javascript'
      response.writeHead(content === undefined ? 404 : 200, { 'content-type': type }).end(content)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    browser = await chromium.launch({
      executablePath: report.executablePath,
      args: [...chromiumArguments],
      env: { ...process.env, ...report.env },
      timeout: hangGuard,
    })
    page = await browser.newPage()
    page.setDefaultTimeout(hangGuard)
    page.on('pageerror', (error) => problems.push(String(error)))
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await page.waitForFunction('globalThis.jobs !== undefined').catch((cause: unknown) => {
      throw new Error(`The page does not load: ${problems.join('; ')}`, { cause })
    })
  })
  afterAll(async () => {
    await browser?.close()
    server?.close()
  })

  function run<Name extends keyof Jobs>(name: Name): Promise<Awaited<ReturnType<Jobs[Name]>>> {
    return page.evaluate(`globalThis.jobs[${JSON.stringify(name)}]()`)
  }

  test('a dispatch and a copy between two virtual devices', async () => {
    const { backend, software, values, kinds, leaks } = await run('dispatch')
    expect([backend, software, leaks]).toEqual(['webgpu', true, 0])
    expect(kinds).toEqual(['dispatch 1', 'copy 1'])
    expect(values).toEqual(Array.from({ length: 1000 }, (_, i) => i * i))
  })

  test.each([
    ['transpose', 'transpose'],
    ['reduce', 'reduce'],
    ['matmul', 'matmul'],
    ['matmulStreamed', 'matmul'],
    ['jacobi', 'jacobi'],
  ] as const)('%s on three virtual devices', async (job, algorithm) => {
    const { verification, ...result } = await run(job)
    expect(result, verification).toEqual({
      algorithm,
      backend: 'webgpu',
      devices: 3,
      verified: true,
      leaks: 0,
    })
  })
})

/** The page with the packages as they are published: by their `exports`, under a browser's conditions. */
async function bundle(): Promise<Map<string, string | Uint8Array>> {
  const root = fileURLToPath(new URL('.', import.meta.url))
  const result = await build({
    root,
    configFile: false,
    logLevel: 'warn',
    build: { write: false, target: 'esnext', minify: false },
  })
  const files = new Map<string, string | Uint8Array>()
  for (const built of Array.isArray(result) ? result : [result]) {
    if (!('output' in built)) throw new Error('Vite watches instead of building once.')
    for (const file of built.output) {
      files.set(file.fileName, file.type === 'chunk' ? file.code : file.source)
    }
  }
  for (const [name, content] of files) {
    // Vite replaces an import of Node's with an empty module of this name instead of failing.
    if (String(content).includes('__vite-browser-external'))
      throw new Error(`${name} imports a module of Node.`)
  }
  return files
}
