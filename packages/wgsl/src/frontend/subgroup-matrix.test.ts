import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { emitCuda } from '../cuda/emit-cuda.ts'
import type { IrModule } from '../ir.ts'
import { reflect } from '../reflect.ts'
import { openDawnOracle } from '../testing/dawn-oracle.ts'
import { printIr } from '../testing/print-ir.ts'
import { parseValidityCases } from '../testing/validity-cases.ts'
import { WgslError } from '../wgsl-error.ts'
import { lower, parseWgsl } from './lower.ts'

const table = new URL('../../testdata/subgroup-matrix.txt', import.meta.url)
const cases = parseValidityCases(readFileSync(table, 'utf8'))
const dawn = await openDawnOracle()

function sourceOf(text: string): string {
  const [declarations, statements] = text.includes(' ### ')
    ? (text.split(' ### ') as [string, string])
    : ['', text]
  return `enable f16;
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> a: array<f16>;
@group(0) @binding(1) var<storage, read_write> c: array<f32>;
var<workgroup> w: array<vec4<u32>, 256>;
var<workgroup> wf: array<f32, 256>;
var<workgroup> w16: array<f16, 256>;
var<workgroup> wv: array<vec4f, 64>;
alias L = subgroup_matrix_left<f16, 16, 16>;
alias R = subgroup_matrix_right<f16, 16, 16>;
alias D = subgroup_matrix_result<f32, 16, 16>;
${declarations}
@compute @workgroup_size(128)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_id) s: u32, @builtin(workgroup_id) g: vec3u) {
  _ = &a; _ = &c;
  ${statements}
}`
}

function lowered(source: string, constants: Record<string, number> = {}): IrModule {
  return lower(parseWgsl(source), { entryPoint: 'main', constants })
}

function errorOf(work: () => unknown): WgslError | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof WgslError) return error
    throw error
  }
}

describe('modules with subgroup matrices', () => {
  it('are accepted and rejected as the table says', () => {
    expect(cases.length).toBeGreaterThan(80)
    const wrong = cases.filter(
      ({ text, isValid }) => (errorOf(() => lowered(sourceOf(text))) === undefined) !== isValid,
    )
    expect(wrong.map(({ text }) => text)).toEqual([])
  })

  it.skipIf(dawn === undefined)('get the same verdicts from Dawn (needs npm webgpu)', async () => {
    const different: string[] = []
    for (const { text, isValid } of cases) {
      const [theirs] = await dawn!(sourceOf(text))
      if ((theirs === undefined) !== isValid) different.push(`${text}\n  Dawn: ${theirs}`)
    }
    expect(different).toEqual([])
  })

  it('need the extension, which includes the built-in values of subgroups', () => {
    const without = sourceOf('').replace('enable chromium_experimental_subgroup_matrix;\n', '')
    expect(errorOf(() => lowered(without))?.text).toMatch(/needs 'enable/)
    expect(reflect(lowered(sourceOf(''))).features).toEqual([
      'shader-f16',
      'chromium-experimental-subgroup-matrix',
    ])
  })

  it('count components in the older form of loads and stores, and elements of the array in the other', () => {
    const bytes = (statements: string) =>
      printIr(
        lowered(
          sourceOf(
            `@group(0) @binding(2) var<storage, read_write> b: array<u32>; alias B = subgroup_matrix_left<u8, 32, 16>; ### ${statements}`,
          ),
        ),
      )
    const older =
      'let x = subgroupMatrixLoad<B>(&b, 64, false, 128); subgroupMatrixStore(&b, 64u, x, true, 32);'
    const newer =
      'let x = subgroupMatrixLoad<B, row_major>(&b, 16, 32); subgroupMatrixStore<col_major>(&b, 16u, x, 8);'
    expect(bytes(older)).toBe(bytes(newer))
  })

  it('may exceed an array by overrides, unless the overrides of the pipeline do so', () => {
    const source = sourceOf('override o: u32 = 16; ### let x = subgroupMatrixLoad<L, row_major>(&w16, 0, o);')
    expect(errorOf(() => lowered(source))).toBeUndefined()
    expect(errorOf(() => lowered(source, { o: 160 }))?.text).toBe(
      'subgroupMatrixLoad accesses memory up to byte 4832 of an array of 512 bytes',
    )
  })
})

describe('pipelines with subgroup matrices in views', () => {
  const access = 'subgroupMatrixLoad<L, row_major>'
  const declared =
    'struct T { n: vec4u, m: array<f16> } @group(0) @binding(2) var<storage> b: buffer<1024>; ###'
  const valid = (row: number) => [
    `_ = ${access}(bufferView<array<f16>>(&b, 512), 0, ${row});`,
    `_ = ${access}(bufferView<array<f16>>(&b, g.x * 4), 256, ${row});`,
    `_ = ${access}(&(*bufferView<T>(&b, 496)).m, 0, ${row});`,
    `let p = bufferArrayView<array<f16>>(&b, g.x, 512); _ = ${access}(p, 0, ${row});`,
    `let p = bufferArrayView<T>(&b, 0, 528); _ = ${access}(&p.m, 0, ${row});`,
  ]
  const judge = async (text: string, isValid: boolean) => {
    const source = sourceOf(`${declared} ${text}`)
    expect(errorOf(() => lowered(source)) === undefined, text).toBe(isValid)
    if (dawn !== undefined) expect((await dawn(source, 'main')).length === 0, text).toBe(isValid)
  }

  it('accept matrices that end with the view or its buffer', async () => {
    for (const text of valid(16)) await judge(text, true)
  })

  it('refuse matrices that end behind it', async () => {
    for (const text of valid(17)) await judge(text, false)
  })
})

describe('translation to CUDA', () => {
  const translate = (source: string) => emitCuda(lowered(source), { bounds: 'clamp' })

  it('needs compute capability 8.0', () => {
    expect(translate(sourceOf('let d = D();')).minimumComputeCapability).toEqual([8, 0])
  })

  it('refuses matrices and products that tensor cores do not support', () => {
    expect(errorOf(() => translate(sourceOf('var x: subgroup_matrix_left<f16, 8, 16>;')))?.text).toBe(
      'matrices of type subgroup_matrix_left<f16, 8, 16> are not supported',
    )
    expect(errorOf(() => translate(sourceOf('var x: subgroup_matrix_left<f32, 16, 16>;')))?.line).toBe(16)
    const bytes = 'var x: subgroup_matrix_left<i8, 32, 16>; var y: subgroup_matrix_right<i8, 16, 32>;'
    expect(
      errorOf(() => translate(sourceOf(`${bytes} let d = subgroupMatrixMultiply<u32>(x, y);`)))?.text,
    ).toBe('matrices of type subgroup_matrix_result<u32, 16, 16> are not supported')
  })

  it('shows the line of an error, with any line endings in the source', () => {
    const source = sourceOf('\nvar x: subgroup_matrix_left<f32, 16, 16>;\n')
    for (const end of ['\n', '\r\n', '\u2028']) {
      const error = errorOf(() => translate(source.replaceAll('\n', end)))
      expect(error?.sourceLine).toBe('var x: subgroup_matrix_left<f32, 16, 16>;')
    }
  })

  it('refuses workgroups whose size in x is not a multiple of the subgroup size', () => {
    const source = sourceOf('let d = D();').replace('@workgroup_size(128)', '@workgroup_size(16, 8)')
    expect(errorOf(() => translate(source))?.text).toBe(
      'a kernel with subgroup matrices has a workgroup size of 16 in x, not a multiple of 32',
    )
  })
})
