import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { lower, parseWgsl } from '../index.ts'
import { parseKernelTest } from './index.ts'
import { printIr } from './print-ir.ts'

const kernels = [
  ...['matmul-tiled', 'transpose-tiled', 'reduce-sequential', 'loop-continuing-scope', 'switch-break-nested'],
  ...['pointer-workgroup', 'pointer-forwarding', 'overrides', 'constant-tables', 'layout-storage-struct'],
  ...['swizzle-assignment', 'hash-table', 'subgroup-reduction', 'layout-f16', 'minus-minus'],
]

it.each(kernels)('the IR of %s is as recorded', async (name) => {
  const testdata = new URL('../../testdata/', import.meta.url)
  const source = readFileSync(new URL(`accepted/${name}.wgsl`, testdata), 'utf8')
  const { entryPoint, constants } = parseKernelTest(source)
  const printed = printIr(lower(parseWgsl(source), { entryPoint, constants }))
  await expect(printed).toMatchFileSnapshot(new URL(`ir/${name}.ir`, testdata).pathname)
})

it('with facts it shows intervals, indices that need no guard, and trip counts', () => {
  const source = `@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 64>;
@group(0) @binding(2) var<uniform> n: u32;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  let even = i & 62u;
  for (var k = 0u; k < 4u; k++) { out[even + k] = a[n]; }
  for (var k = i; k < min(n, 9u); k += 2u) { out[k] = a[k]; }
  if (n < arrayLength(&a)) { out[i] = a[n]; }
}`
  expect(
    printIr(lower(parseWgsl(source)), { facts: true })
      .split('\n')
      .slice(3),
  ).toMatchInlineSnapshot(`
    [
      "@workgroup_size(64, 1, 1) fn main_7(@local_invocation_index i_0: u32) {",
      "  let even_1: u32 in 0..62 = (i_0 & 62u)",
      "  for (var k_2: u32 = 0u; (load(k_2) < 4u); k_2 += 1u) 4 times {",
      "    out_3[(even_1 + load(k_2)) in 0..65] = load(a_4[load(n_5) in 0..4294967295])",
      "  }",
      "  for (var k_6: u32 = i_0; (load(k_6) < min(load(n_5), 9u)); k_6 += 2u) at most 5 times {",
      "    out_3[load(k_6) in 0..8, inside] = load(a_4[load(k_6) in 0..8])",
      "  }",
      "  if (load(n_5) < arrayLength(&a_4)) {",
      "    out_3[i_0 in 0..63, inside] = load(a_4[load(n_5) in 0..4294967294])",
      "  }",
      "}",
      "",
    ]
  `)
})
