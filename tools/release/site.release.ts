import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChromium } from '../../packages/backend-webgpu/browser/chromium.ts'
import { sitePages } from '../../site/pages.ts'

// The site as a file server has it: built by VitePress, which fails on links that lead nowhere, and opened without any other server.

const site = fileURLToPath(new URL('../../site', import.meta.url))
const report = await findChromium()
const missing = 'missing' in report ? report.missing : undefined
/** Milliseconds: what takes longer hangs, on however slow a machine. */
const hangGuard = 600_000

beforeAll(() => {
  for (const args of [
    ['ci', '--no-audit', '--no-fund', '--loglevel=error'],
    ['run', 'build'],
  ]) {
    const { status, stdout, stderr } = spawnSync('npm', args, { cwd: site, encoding: 'utf8' })
    expect(status, stdout + stderr).toBe(0)
  }
})

const html = [...sitePages().values()].map((page) => page.replace(/\.md$/, '.html'))

it('has every page', () => {
  for (const page of html) expect(existsSync(join(site, 'dist', page)), page).toBe(true)
})

describe.skipIf(missing !== undefined)(`in headless Chromium${missing ? ` (needs ${missing})` : ''}`, () => {
  let server: Server
  let browser: Browser
  beforeAll(async () => {
    if ('missing' in report) return
    const types: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' }
    server = createServer(async (request, response) => {
      const path = new URL(request.url!, 'http://localhost').pathname
      const file = join(site, 'dist', path.endsWith('/') ? `${path}index.html` : path)
      const bytes = await readFile(file).catch(() => undefined)
      const type = types[file.split('.').at(-1)!] ?? 'application/octet-stream'
      response.writeHead(bytes === undefined ? 404 : 200, { 'content-type': type }).end(bytes)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    browser = await chromium.launch({
      executablePath: report.executablePath,
      args: ['--no-sandbox'],
      env: { ...process.env, ...report.env },
      timeout: hangGuard,
    })
  })
  afterAll(async () => {
    await browser?.close()
    server?.close()
  })

  it.each([1100, 390])(
    'every page opens %i pixels wide, asks nobody else for anything, and does not scroll sideways',
    async (width) => {
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const page = await browser.newPage({ viewport: { width, height: 900 } })
      page.setDefaultTimeout(hangGuard)
      const problems: string[] = []
      page.on('pageerror', (error) => problems.push(String(error)))
      page.on('request', (request) => {
        if (!request.url().startsWith(origin) && !request.url().startsWith('data:'))
          problems.push(request.url())
      })
      page.on('response', (response) => {
        if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`)
      })
      for (const path of html) {
        await page.goto(`${origin}/${path}`)
        await page.waitForSelector('h1')
        const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        if (Number(wide) > 0) problems.push(`${path} is ${wide} pixels too wide`)
      }
      expect(problems).toEqual([])
      await page.close()
    },
  )
})
