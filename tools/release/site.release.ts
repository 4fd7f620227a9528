import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it } from 'vitest'
import { describeInChromium } from '../../packages/backend-webgpu/browser/describe-in-chromium.ts'
import { apiEntries } from '../../site/api-entries.ts'
import { examples, sitePages } from '../../site/pages.ts'

// The site as a file server delivers it: built by VitePress, which fails on broken links, and opened without
// any other server.

const site = fileURLToPath(new URL('../../site', import.meta.url))

beforeAll(() => {
  // The demo consists of the built packages; `npm run test:release` builds them first.
  for (const args of [
    ['ci', '--no-audit', '--no-fund', '--loglevel=error'],
    ['run', 'build'],
  ]) {
    const { status, stdout, stderr } = spawnSync('npm', args, { cwd: site, encoding: 'utf8' })
    expect(status, stdout + stderr).toBe(0)
  }
})

const html = [
  ...[...sitePages().values()].map((page) => page.replace(/\.md$/, '.html')),
  ...[...apiEntries().keys()].map((name) => `api/${name}/index.html`),
  ...examples().map(([name]) => `examples/${name}.html`),
  ...['index.html', 'api/index.html', 'api/core/functions/openGroup.html'],
]

it('has every page', () => {
  for (const page of html) expect(existsSync(join(site, 'dist', page)), page).toBe(true)
})

const types: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' }

const serve: RequestListener = async (request, response) => {
  const path = new URL(request.url!, 'http://localhost').pathname
  const file = join(site, 'dist', path.endsWith('/') ? `${path}index.html` : path)
  const bytes = await readFile(file).catch(() => undefined)
  const type = types[file.split('.').at(-1)!] ?? 'application/octet-stream'
  response.writeHead(bytes === undefined ? 404 : 200, { 'content-type': type }).end(bytes)
}

describeInChromium(serve, (pages) => {
  it.each(['light', 'dark'] as const)('axe finds no serious fault in %s colours', async (colorScheme) => {
    const axe = await readFile(join(site, 'node_modules/axe-core/axe.min.js'), 'utf8')
    const found: unknown[] = []
    for (const width of [1280, 390]) {
      const { page } = await pages.open({ viewport: { width, height: 900 }, colorScheme })
      for (const path of [
        'index.html',
        'examples/scan.html',
        'guides/add-an-algorithm.html',
        'api/core/interfaces/Recorder.html',
        'cli.html',
      ]) {
        await page.goto(`${pages.origin}/${path}`)
        await page.waitForSelector('h1')
        await page.evaluate(axe)
        const serious = await page.evaluate(
          `axe.run().then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
            .map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
        )
        for (const fault of serious as string[]) found.push(`${path}, ${width} pixels: ${fault}`)
      }
      await page.close()
    }
    expect(found).toEqual([])
  })

  it('the demo on the start page runs the four algorithms by itself, draws the grid as it changes, and the plan', async () => {
    const { page, problems } = await pages.open({ viewport: { width: 1280, height: 900 } })
    await page.goto(`${pages.origin}/index.html`)
    await page.waitForSelector('.plan svg')
    const picture = () => page.evaluate("document.querySelector('.demo canvas').toDataURL()")
    const first = await picture()
    await page.waitForFunction(
      `document.querySelector('.demo canvas').toDataURL() !== ${JSON.stringify(first)}`,
    )
    await page.waitForSelector('.demo:not([data-state=running])')
    expect(await page.textContent('.demo [role=status]')).toBe('Done: every result is verified.')
    const rows = await page.locator('.demo tbody tr').allInnerTexts()
    expect(rows.map((row) => row.split('\t')[0])).toEqual(['transpose', 'sum', 'matrix product', 'Jacobi'])
    for (const row of rows) expect(row).toMatch(/yes$/)
    expect(await page.locator('.plan svg rect').count()).toBeGreaterThan(10)
    expect(problems).toEqual([])
    await page.close()
  })

  it('the start page has a still picture where pages get no GPU', async () => {
    const { page } = await pages.open({ viewport: { width: 390, height: 900 } })
    await page.addInitScript("Object.defineProperty(navigator, 'gpu', { value: undefined })")
    await page.goto(`${pages.origin}/index.html`)
    await page.waitForFunction("document.querySelector('.still figcaption')?.textContent.includes('no GPU')")
    expect(await page.evaluate("document.querySelector('.still img').naturalWidth")).toBeGreaterThan(500)
    await page.close()
  })

  it.each([
    ['install', 'Install'],
    ['histogram', 'histogram'],
    ['multiple GPUs', 'Multiple GPUs'],
    ['windows', 'Platforms'],
    ['vite', 'Vite'],
  ])('a search for %s finds a page of it', async (words, title) => {
    const { page } = await pages.open({ viewport: { width: 1280, height: 900 } })
    await page.goto(`${pages.origin}/guides/`)
    await page.click('.DocSearch-Button')
    await page.fill('.search-input', words)
    await page.waitForFunction(
      `[...document.querySelectorAll('.results .titles')].some(({ textContent }) => textContent.includes(${JSON.stringify(title)}))`,
    )
    await page.close()
  })

  it('the first result of a search for windows is the install guide, and says so', async () => {
    const { page } = await pages.open({ viewport: { width: 1280, height: 900 } })
    await page.goto(`${pages.origin}/guides/`)
    await page.click('.DocSearch-Button')
    await page.fill('.search-input', 'windows')
    await page.waitForSelector('.results .titles')
    expect(await page.locator('.results .titles').first().textContent()).toMatch(/Install.*Platforms/s)
    await page.close()
  })

  it.each([1100, 390])(
    'every page opens %i pixels wide, asks nobody else for anything, and does not scroll sideways',
    async (width) => {
      const { origin } = pages
      const { page, problems } = await pages.open({ viewport: { width, height: 900 } })
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
