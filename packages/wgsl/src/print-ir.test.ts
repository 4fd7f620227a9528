import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { lower, parseWgsl, printIr } from './index.ts'
import { parseKernelTest } from './testing/index.ts'

const kernels = [
  ...['matmul-tiled', 'transpose-tiled', 'reduce-sequential', 'loop-continuing-scope', 'switch-break-nested'],
  ...['pointer-workgroup', 'pointer-forwarding', 'overrides', 'constant-tables', 'layout-storage-struct'],
  ...['swizzle-assignment', 'hash-table', 'subgroup-reduction', 'layout-f16', 'minus-minus'],
]

it.each(kernels)('the IR of %s is as recorded', async (name) => {
  const testdata = new URL('../testdata/', import.meta.url)
  const source = readFileSync(new URL(`kernels/${name}.wgsl`, testdata), 'utf8')
  const { entryPoint, constants } = parseKernelTest(source)
  const printed = printIr(lower(parseWgsl(source), { entryPoint, constants }))
  await expect(printed).toMatchFileSnapshot(new URL(`golden/${name}.ir`, testdata).pathname)
})
