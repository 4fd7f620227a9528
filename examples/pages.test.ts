import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openGroup } from '@tandem-gpu/core'
import { build } from 'esbuild'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumArguments, findChromium } from '../packages/backend-webgpu/browser/chromium.ts'
import { draw } from './shared-kernel/mandelbrot.ts'

const folder = import.meta.dirname
const report = await findChromium()
const missing = 'missing' in report ? report.missing : undefined
/** Milliseconds: what takes longer hangs, on however slow a machine. */
const hangGuard = 600_000

/** The page's program as a browser gets it. */
async function bundle(name: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(folder, name, 'page.ts')],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  })
  return outputFiles[0]!.text
}

it.each(['backend-choice', 'shared-kernel'])(
  'the page of %s is one file without Node in it',
  async (name) => {
    const text = await bundle(name)
    expect(text).not.toMatch(/from ?["']node:/)
    expect(text.length).toBeLessThan(2_000_000)
  },
)

describe.skipIf(missing !== undefined)(`in headless Chromium${missing ? ` (needs ${missing})` : ''}`, () => {
  let server: Server
  let browser: Browser

  beforeAll(async () => {
    if ('missing' in report) return
    server = createServer(async (request, response) => {
      const [, name = '', file = ''] = new URL(request.url!, 'http://localhost').pathname.split('/')
      const script = file === 'page.js'
      const text = script ? await bundle(name) : await readFile(join(folder, name, 'index.html'), 'utf8')
      response.setHeader('content-type', script ? 'text/javascript' : 'text/html')
      response.end(text)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    browser = await chromium.launch({
      executablePath: report.executablePath,
      args: [...chromiumArguments],
      env: { ...process.env, ...report.env },
      timeout: hangGuard,
    })
  })
  afterAll(async () => {
    await browser?.close()
    server?.close()
  })

  async function open(name: string, title: RegExp) {
    const page = await browser.newPage()
    page.setDefaultTimeout(hangGuard)
    const failed = new Promise<never>((_, reject) => page.on('pageerror', reject))
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}/`)
    await Promise.race([page.waitForFunction(`${title}.test(document.title)`), failed])
    return page
  }

  it('the histogram is counted', async () => {
    const page = await open('backend-choice', /^counted$/)
    const counts = (await page.textContent('#counts'))!.split(' ').map(Number)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(10_000)
    await page.close()
  })

  it('the page draws what the server draws', async () => {
    const page = await open('shared-kernel', /^drawn \d+$/)
    const group = await openGroup({ backends: [webgpu()] })
    const counts = await draw(group, { rows: 48, columns: 64, center: [-0.6, 0], width: 3 })
    expect(await page.title()).toBe(`drawn ${counts.reduce((sum, count) => sum + count, 0)}`)
    await group.destroy()
    await page.close()
  })
})
