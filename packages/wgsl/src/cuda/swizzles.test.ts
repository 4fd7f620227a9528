import { describe, expect, it } from 'vitest'
import { analyse } from '../analysis/analyses.ts'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { compareBuffers } from '../testing/index.ts'
import { findAsyncCopies } from './async-copies.ts'
import { emitCuda } from './emit-cuda.ts'
import { findSwizzles } from './swizzles.ts'
import { buildCpuProgram } from './testing/cpu-program.ts'
import { cpuJob, hasProgram, loadKernelCases, referenceRun } from './testing/kernel-cases.ts'

function source(statements: string, length = 128): string {
  return `enable f16;
    enable chromium_experimental_subgroup_matrix;
    alias Left = subgroup_matrix_left<f16, 16, 16>;
    @group(0) @binding(0) var<storage, read> a: array<vec4<u32>>;
    @group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;
    @group(0) @binding(2) var<uniform> n: u32;
    var<workgroup> tile: array<vec4<u32>, ${length}>;
    var<workgroup> tiles: array<array<vec4<u32>, 64>, 2>;
    fn whole(p: ptr<workgroup, array<vec4<u32>, ${length}>>) -> u32 { let all = *p; return all[n % 8u].x; }
    @compute @workgroup_size(128) fn main(@builtin(local_invocation_index) t: u32) {
      var left: Left;
      ${statements}
    }`
}

/** The rows of the arrays that are laid out swizzled. */
function found(statements: string, length?: number): Record<string, number> {
  const module = lower(parseWgsl(source(statements, length)))
  const swizzles = findSwizzles(module, findAsyncCopies(module, analyse(module)))
  return Object.fromEntries([...swizzles].map(([variable, row]) => [variable.name, row]))
}

const load = (stride: string, offset = '0u') =>
  `left = subgroupMatrixLoad<Left, row_major>(&tile, ${offset}, ${stride});`
const copy = 'tile[t % 64u] = a[t];\nworkgroupBarrier();\n'

describe('swizzled workgroup arrays', () => {
  it('are those that copies write and matrices are loaded from, with a row of a power of two', () => {
    expect(found(copy + load('4u'))).toEqual({ tile: 4 })
    expect(found(`${copy}${load('8u', 'n')}\nout[t] = tile[t] + tile[tile[t].x];`)).toEqual({ tile: 8 })
    expect(found(copy + load('2u') + load('2u', '16u'))).toEqual({ tile: 2 })
  })

  it('do not include arrays whose rows are padded, different or unknown, or whose length is not a multiple of eight', () => {
    expect(found(copy + load('5u'))).toEqual({})
    expect(found(copy + load('4u') + load('2u'))).toEqual({})
    expect(found(copy + load('n'))).toEqual({})
    expect(found(copy + load('4u'), 124)).toEqual({})
  })

  it('do not include arrays that no asynchronous copy writes, or that are used as a whole', () => {
    expect(found(`tile[t] = a[t] + vec4<u32>(1u);\nworkgroupBarrier();\n${load('4u')}`)).toEqual({})
    expect(found(`${copy}out[t] = tile[t];`)).toEqual({})
    expect(found(`${copy}${load('4u')}\nout[t].x = whole(&tile);`)).toEqual({})
    expect(found(`${copy}${load('4u')}\nout[whole(&tile)] = tile[t];`)).toEqual({})
    const whole = 'workgroupUniformLoad(&tile)[0].x'
    expect(found(`${copy}${load('4u')}\nout[${whole} % 8u] = tile[t];`)).toEqual({})
    expect(found(`${copy}${load('4u')}\nout[t].x = tile[${whole} % 8u][n & 3u];`)).toEqual({})
    expect(found(`${copy}${load('4u', `${whole} % 8u`)}`)).toEqual({})
    const other = `left = subgroupMatrixLoad<Left, row_major>(&tiles[${whole} % 2u], 0u, 4u);`
    expect(found(`${copy}${load('4u')}\n${other}`)).toEqual({})
    expect(found(`${copy}${load('4u')}\n${other.replace(whole, 'n')}`)).toEqual({ tile: 4 })
    expect(found(`${copy}${load('4u')}\nout[t].x = tile[n % 8u][n & 3u];`)).toEqual({ tile: 4 })
    expect(
      found(
        `${copy}${load('4u')}\nworkgroupBarrier();\nsubgroupMatrixStore<row_major>(&tile, 0u, left, 4u);`,
      ),
    ).toEqual({})
  })

  it('do not include arrays of matrices of bytes', () => {
    const bytes = 'subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>, row_major>(&tile, 0u, 4u)'
    expect(found(`${copy}let bytes = ${bytes};`)).toEqual({})
  })

  it('have constants and multiples of eight rows outside the swizzle, if the index is u32 and has no effects', () => {
    const text = (statements: string) =>
      emitCuda(lower(parseWgsl(source(`${copy}${statements}`))), { bounds: 'unchecked' }).parts.body
    const elements = (index: string) => text(`${load('4u')}\nout[t] = tile[${index}];`)
    expect(elements('(t % 8u) + 64u')).toContain('tile_[swizzled<4u>(rem(t_, 8u)) + (64u)]')
    expect(elements('i32(t % 8u) + 64')).toContain(
      'tile_[swizzled<4u>((unsigned)(add((int)(rem(t_, 8u)), 64)))]',
    )
    expect(text(load('4u', 'n * 64u + 3u'))).toContain('&tile_, 3u, (n_ * 64u))')
    expect(text(load('4u', 'workgroupUniformLoad(&tile[0]).x + 64u'))).toMatch(/&tile_, t\d+, 0u\)/)
  })

  it('begin at a multiple of 128 bytes', () => {
    const text = source(copy + load('4u')).replace(
      'var<workgroup> tile',
      'var<workgroup> first: u32;\nvar<workgroup> tile',
    )
    const module = lower(parseWgsl(text.replace('var left', 'first = 1u;\nvar left')))
    expect(emitCuda(module, { bounds: 'clamp' }).source).toContain('alignas(128) __shared__')
  })

  it.skipIf(!hasProgram('g++'))(
    'have the contents of the reference executor on the CPU (needs g++)',
    async () => {
      const kernelCase = loadKernelCases('accepted').find(({ name }) =>
        name.includes('subgroup-matrix-swizzled'),
      )!
      const { module } = kernelCase
      const kernels = (['clamp', 'unchecked'] as const).map((bounds) => emitCuda(module, { bounds }))
      for (const { source } of kernels) {
        for (const row of [2, 4, 8, 32])
          expect(source).toMatch(new RegExp(`MatrixLoadSwizzled<[^;]*, ${row}u>`))
        expect(source).toContain('mixed_[i_]')
      }
      const program = await buildCpuProgram(kernels)
      const expected = referenceRun(kernelCase)
      for (const result of await program.run(kernels.map((kernel, i) => cpuJob(kernelCase, kernel, i)))) {
        if ('failure' in result) throw new Error(result.failure)
        for (const [i, { binding, buffer }] of kernelCase.inputs.entries())
          if (binding.access !== 'read' && buffer !== undefined)
            expect(
              compareBuffers(buffer, result.buffers[i]!, expected[i]!, kernelCase.test.tolerance),
            ).toBeUndefined()
      }
    },
    120_000,
  )
})
