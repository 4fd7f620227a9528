import { build } from 'esbuild'
import { expect, it } from 'vitest'

// What a page imports may use nothing of Node, although the same program runs in Node.

const program = `
import { cuda } from '@tandem-gpu/backend-cuda'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openGroup } from '@tandem-gpu/core'
import * as algorithms from '@tandem-gpu/algorithms'
export { algorithms, cuda, openGroup, webgpu }
`

it('a bundle for browsers of both backends and the algorithms has nothing of Node, and CUDA says that it is absent', async () => {
  const { outputFiles, warnings } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname },
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
  })
  expect(warnings).toEqual([])
  const { text } = outputFiles[0]!
  expect(text).not.toMatch(/from "node:|require\("node:|\bprocess\.(env|platform|arch|version)\b/)
  const page = await import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`)
  expect(await page.cuda().adapters()).toMatchObject({ adapters: [], absence: { code: 'no-driver' } })
  await expect(page.openGroup({ backends: [page.cuda()] })).rejects.toMatchObject({
    code: 'no-device',
    message: expect.stringContaining('A browser gives pages no access to CUDA.'),
  })
})
