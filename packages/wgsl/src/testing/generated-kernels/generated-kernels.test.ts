import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { generatedKernels } from './generated-kernels.ts'

it('the generated kernels match the digest in testdata', async () => {
  const kernels = generatedKernels()
  expect(new Set(kernels.map(({ name }) => name)).size).toBe(kernels.length)
  const digest = (source: string) => createHash('sha256').update(source).digest('hex').slice(0, 16)
  const lines = kernels.map(({ name, source }) => `${digest(source)} ${name}\n`)
  await expect(lines.join('')).toMatchFileSnapshot('../../../testdata/generated.digests')
})
