import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe } from 'vitest'
import { chromiumArguments, findChromium } from './chromium.ts'

const report = await findChromium()

/** Milliseconds: what takes longer hangs, on however slow a machine. */
const hangGuard = 600_000

/** A web server on this machine, and pages of a headless Chromium. */
export interface Pages {
  /** The server's: scheme, host and port, without a slash at the end. */
  readonly origin: string
  /** An empty page. Faults that its scripts throw are added to `problems`. */
  open(options?: BrowserContextOptions): Promise<{ readonly page: Page; readonly problems: string[] }>
}

/**
 * Tests of pages that `listener` serves, skipped if there is no Chromium. They may use `pages` while they
 * run, and in `beforeAll`.
 */
export function describeInChromium(listener: RequestListener, tests: (pages: Pages) => void): void {
  const missing = 'missing' in report ? ` (needs ${report.missing})` : ''
  describe.skipIf(missing !== '')(`in headless Chromium${missing}`, () => {
    let server: Server
    let browser: Browser

    beforeAll(async () => {
      if ('missing' in report) return
      server = createServer(listener)
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

    tests({
      get origin() {
        return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      },
      async open(options) {
        const page = await browser.newPage(options)
        page.setDefaultTimeout(hangGuard)
        const problems: string[] = []
        page.on('pageerror', (error) => problems.push(String(error)))
        return { page, problems }
      },
    })
  })
}
