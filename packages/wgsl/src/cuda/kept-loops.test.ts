import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { hasProgram, kernelCase, referenceRun, translate } from './testing/kernel-cases.ts'
import { kernelsPtx, nvccPtx, ptxDifferences, ptxResults } from './testing/nvcc-ptx.ts'

/** A kernel with a loop that carries a comparison of its counter, and uses it in a branch too. */
function kernel(comparison: string, use: string, bound: string): string {
  return `// run: workgroups=1,1,1
// buffer data: u32[128] random(0, 4294967295)
// buffer out: u32[192]
// buffer n: u32[2] values(2, 19)
@group(0) @binding(0) var<storage, read> data: array<u32, 128>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> n: vec2<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  let x = data[i];
  let y = data[i + 64u];
  var a = x;
  var b = 0u;
  var was = false;
  var isOn = (x & 2u) != 0u;
  for (var k = 0u; k < ${bound}; k++) {
    if (was && isOn) { a += 1u; }
    was = ${comparison};
    ${use}
    isOn = true;
  }
  // nvcc splits loops only in front of others.
  for (var k = 0u; k < 8u; k++) { for (var j = 0u; j < n.x; j++) { } }
  out[i] = a;
  out[i + 64u] = b;
}`
}

const comparisons = [
  'k != 2u',
  '!(k == 2u)',
  'k == 2u',
  'k < 3u',
  'k != n.x',
  'k + 1u != 3u',
  '2u != k',
  'k != (x & 3u)',
]
const uses = [
  'if (was) { out[i + 128u] += 1u; }',
  'if (was) { b += data[(b + k) & 127u]; }',
  'if (was) { b = ~b & (b + y); }',
  'if (was && (y & ~y) == 0u) { }',
]
const bounds = ['(x & 7u)', 'min(n.y, 50u)', '12u', 'n.y']

it.skipIf(!hasProgram('nvcc'))(
  "nvcc's PTX has the comparisons of counters that loops carry (needs nvcc)",
  { timeout: 600_000 },
  () => {
    const sources = bounds.flatMap((bound) =>
      uses.flatMap((use) => comparisons.map((c) => kernel(c, use, bound))),
    )
    const cases = sources.map((source, i) => kernelCase(`${i}`, source))
    const kernels = cases.map((c) => translate(c, 'clamp'))
    const module = kernelsPtx(kernels)
    const bad = cases.filter((c, i) => {
      const expected = referenceRun(c)
      const found = ptxResults(c, kernels[i]!, module, `entry${i}`, 'rising')
      return ptxDifferences(c, found, expected).length > 0
    })
    expect(bad.map(({ name }) => sources[Number(name)])).toEqual([])
  },
)

it.skipIf(!hasProgram('nvcc'))("nvcc's PTX for sm_100 has no branches around nothing (needs nvcc)", () => {
  const file = new URL('../../testdata/accepted/empty-loops.wgsl', import.meta.url)
  const { source } = translate(kernelCase('empty-loops', readFileSync(file, 'utf8')), 'clamp')
  const aroundNothing = /\bbra\s+(\$\w+);\s+(?:\/\/.*\s+)*\1:/
  expect(nvccPtx(source, 'sm_100')).not.toMatch(aroundNothing)
  const without = source.replace(/#define KEPT_LOOP.*/g, '#define KEPT_LOOP asm volatile("");')
  expect(nvccPtx(without, 'sm_100')).toMatch(aroundNothing)
})
