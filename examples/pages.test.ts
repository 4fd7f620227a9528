import { readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openGroup } from '@tandem-gpu/core'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { describeInChromium } from '../packages/backend-webgpu/browser/describe-in-chromium.ts'
import { draw } from './shared-kernel/mandelbrot.ts'

const folder = import.meta.dirname

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

it.each(['backend-choice', 'shared-kernel', 'vite-page'])(
  'the page of %s is one file without Node in it',
  async (name) => {
    const text = await bundle(name)
    expect(text).not.toMatch(/from ?["']node:/)
    expect(text.length).toBeLessThan(2_000_000)
  },
)

const serve: RequestListener = async (request, response) => {
  const [, name = '', file = ''] = new URL(request.url!, 'http://localhost').pathname.split('/')
  const script = file === 'page.js'
  // A browser also asks for an icon, which there is none.
  const text = script
    ? await bundle(name)
    : await readFile(join(folder, name, 'index.html'), 'utf8').catch(() => undefined)
  response.writeHead(text === undefined ? 404 : 200, {
    'content-type': script ? 'text/javascript' : 'text/html',
  })
  response.end(text)
}

describeInChromium(serve, (pages) => {
  async function open(name: string, title: RegExp) {
    const { page } = await pages.open()
    const failed = new Promise<never>((_, reject) => page.on('pageerror', reject))
    await page.goto(`${pages.origin}/${name}/`)
    await Promise.race([page.waitForFunction(`${title}.test(document.title)`), failed])
    return page
  }

  it('the histogram is counted', async () => {
    const page = await open('backend-choice', /^counted$/)
    const counts = (await page.textContent('#counts'))!.split(' ').map(Number)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(10_000)
    await page.close()
  })

  it('the page of the guide for Vite computes, with the CUDA backend in its list', async () => {
    const { page } = await pages.open()
    await page.goto(`${pages.origin}/vite-page/`)
    await page.waitForFunction("document.body.textContent.includes('The root of 144 is 12')")
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
