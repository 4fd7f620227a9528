import type { RequestListener } from 'node:http'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { build } from 'vite'
import { beforeAll, expect, test } from 'vitest'
import { describeInChromium } from './describe-in-chromium.ts'
import type { Jobs } from './page.ts'

let files: Map<string, string | Uint8Array>

const serve: RequestListener = (request, response) => {
  const path = request.url === '/' ? 'index.html' : (request.url ?? '').slice(1)
  const content = files.get(path)
  const type = path.endsWith('.html') ? 'text/html' : 'text/javascript'
  response.writeHead(content === undefined ? 404 : 200, { 'content-type': type }).end(content)
}

describeInChromium(serve, (pages) => {
  let page: Page

  beforeAll(async () => {
    files = await bundle()
    const opened = await pages.open()
    page = opened.page
    await page.goto(`${pages.origin}/`)
    await page.waitForFunction('globalThis.jobs !== undefined').catch((cause: unknown) => {
      throw new Error(`The page does not load: ${opened.problems.join('; ')}`, { cause })
    })
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
    // Vite does not fail on an import of a Node module, but replaces it with an empty module of this name.
    if (String(content).includes('__vite-browser-external'))
      throw new Error(`${name} imports a module of Node.`)
  }
  return files
}
