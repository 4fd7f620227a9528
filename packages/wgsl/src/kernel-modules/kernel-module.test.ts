import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { main } from './command.ts'
import { kernelModule } from './kernel-module.ts'

const axpy = `
struct Params { x_base: u32, y_length: u32, alpha: f32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(64) fn axpy(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < params.y_length) { y[id.x] += params.alpha * x[params.x_base + id.x]; }
}
`

it('types every argument, and omits those that Tandem fills in', () => {
  const text = kernelModule(axpy, 'axpy.wgsl')
  expect(text.split('\n')[0]).toBe(
    '// Written by tandem-wgsl from axpy.wgsl: change that file, not this one.',
  )
  expect(text).toContain("import type { BufferView, CompileOptions, Parameter } from '@tandem-gpu/core'")
  expect(text).toContain(`export type AxpyArguments = {
  /** array<f32>, read */
  readonly x: BufferView<'f32'>
  /** array<f32>, read_write */
  readonly y: BufferView<'f32'>
  /** u32; filled in where it is left out */
  readonly x_base?: number | Parameter
  /** u32; filled in where it is left out */
  readonly y_length?: number | Parameter
  /** f32 */
  readonly alpha: number | Parameter
}`)
  expect(text).toContain(`export const axpy: CompileOptions<AxpyArguments> = {
  label: "axpy",
  wgsl,
  entryPoint: "axpy",
}`)
  expect(text).toContain('export default axpy')
  expect(text).toContain(`const wgsl = ${JSON.stringify(axpy)}`)
})

it('types vectors, matrices, arrays and structures, atomics and mixed structures', () => {
  const text = kernelModule(
    `struct Light { color: vec3f, power: f32 }
    struct Params { light: Light, lights: array<Light, 2>, turn: mat3x3f, offset: vec2i, table: array<vec4u, 3> }
    struct Item { key: u32, weight: f32 }
    @group(0) @binding(0) var<storage, read_write> items: array<Item>;
    @group(0) @binding(1) var<storage, read_write> count: atomic<i32>;
    @group(0) @binding(2) var<uniform> params: Params;
    @group(0) @binding(3) var<uniform> seed: u32;
    override width: u32;
    @compute @workgroup_size(width) fn delete_me() { items[seed].key = u32(atomicLoad(&count)) + u32(params.turn[0].x); }`,
    'items.wgsl',
  )
  for (const line of [
    "readonly items: BufferView<'u32'>",
    "readonly count: BufferView<'i32'>",
    'readonly light: { readonly color: readonly [number, number, number] | Float32Array | Parameter; readonly power: number | Parameter }',
    'readonly turn: readonly number[] | Float32Array | readonly (readonly number[])[]',
    'readonly offset: readonly [number, number] | Int32Array | Parameter',
    'readonly table: readonly number[] | Uint32Array | readonly (readonly [number, number, number, number] | Uint32Array | Parameter)[]',
    'readonly seed: number | Parameter',
    'label: "items delete_me"',
    'constants: width: u32',
  ])
    expect(text).toContain(line)
})

it('exports several entry points by name, even by names that no variable may have', () => {
  const text = kernelModule(
    '@compute @workgroup_size(1) fn first() {} @compute @workgroup_size(1) fn eval() {}',
    'two.wgsl',
  )
  expect(text).toContain('export const first: CompileOptions<FirstArguments>')
  expect(text).toContain('export { evalKernel as eval }')
  expect(text).not.toContain('export default')
})

it('types kernels whose overrides have no value, whatever depends on them', () => {
  const text = kernelModule(
    `const key = 3; @id(key) override width: u32; override height: u32; override depth = 4u;
    @group(0) @binding(0) var<storage, read_write> x: array<f32>;
    var<workgroup> bytes: buffer<width>; var<workgroup> tile: array<f32, height - 1>;
    @compute @workgroup_size(64 / (height - 1), depth) fn f() { x[0] = tile[height]; _ = &bytes; }`,
    'f.wgsl',
  )
  expect(text).toContain("readonly x: BufferView<'f32'>")
  expect(text).toContain('Workgroups of 1 × 4 × 1; constants: width: u32, height: u32, depth: u32')
})

it('gives no two kernels the same names', () => {
  const names = ['eval', 'evalKernel', 'scan', 'Scan']
  const text = kernelModule(
    names.map((name) => `@compute @workgroup_size(1) fn ${name}() {}`).join('\n'),
    'names.wgsl',
  )
  const declared = [...text.matchAll(/^(?:export )?(?:type|const) (\w+).*[^`]$/gm)].map(([, name]) => name)
  expect(declared).toHaveLength(9)
  expect(new Set(declared).size).toBe(9)
  expect(text).toContain('export { evalKernel_ as eval }')
})

it('refuses two arguments of one name', () => {
  const members = (buffer: string, second: string) => `struct P { n: u32 } struct Q { ${second}: f32 }
    @group(0) @binding(0) var<storage, read_write> ${buffer}: array<f32>;
    @group(0) @binding(1) var<uniform> p: P; @group(0) @binding(2) var<uniform> q: Q;
    @compute @workgroup_size(1) fn f() { ${buffer}[p.n] = q.${second}; }`
  expect(() => kernelModule(members('x', 'm'), 'f.wgsl')).not.toThrow()
  for (const source of [members('x', 'n'), members('m', 'm')])
    expect(() => kernelModule(source, 'f.wgsl')).toThrow(/^f\.wgsl:4:\d+: 'f' has two arguments '[nm]'/)
})

it('types structures that contain others many times in a text that is not much longer than the source', () => {
  const structures = Array.from({ length: 26 }, (_, i) => `struct S${i + 1} { a: S${i}, b: S${i} }`)
  const text = kernelModule(
    `struct S0 { a: u32 } ${structures.join(' ')} @group(0) @binding(0) var<uniform> s: S26;
    @compute @workgroup_size(1) fn f() { _ = &s; }`,
    'f.wgsl',
  )
  expect(text).toContain('readonly a: object')
  expect(text.length).toBeLessThan(20_000)
})

async function run(...argv: string[]) {
  let [out, error] = ['', '']
  const code = await main(argv, { out: (text) => (out += text), error: (text) => (error += text) })
  return { code, out, error }
}

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tandem-wgsl-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'src/node_modules'), { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

it('--check passes only if every module matches its file', async () => {
  const folder = await folderOf({
    'src/axpy.wgsl': axpy,
    'src/tail.part.wgsl': 'no module',
    'src/node_modules/other.wgsl': 'none of ours',
  })
  expect(await run('--check', folder)).toMatchObject({
    code: 1,
    error: expect.stringContaining('axpy.wgsl.ts is missing'),
  })
  expect(await run(folder)).toMatchObject({
    code: 0,
    error: '',
    out: expect.stringMatching(/src\/axpy\.wgsl\.ts\n$/),
  })
  expect(await run('--check', folder)).toEqual({ code: 0, out: '', error: '' })
  expect(await run(folder)).toEqual({ code: 0, out: '', error: '' })
  await writeFile(join(folder, 'src/axpy.wgsl'), `\uFEFF${axpy}`)
  expect(await run('--check', folder)).toEqual({ code: 0, out: '', error: '' })
  await writeFile(join(folder, 'src/axpy.wgsl'), axpy.replace('alpha', 'factor').replace('alpha', 'factor'))
  expect(await run('--check', folder)).toMatchObject({
    code: 1,
    error: expect.stringContaining('does not match'),
  })
})

it('reports sources that do not compile, and wrong arguments', async () => {
  const folder = await folderOf({
    'src/bad.wgsl': '@compute @workgroup_size(1) fn f() { let x: u32 = 1.5; }',
    'src/none.wgsl': '',
  })
  const { code, error } = await run(folder)
  expect(code).toBe(1)
  expect(error).toContain('bad.wgsl:1:')
  expect(error).toContain('no compute entry point')
  expect(await run('nowhere')).toMatchObject({
    code: 2,
    error: 'tandem-wgsl: nowhere cannot be read: no such file or folder.\n',
  })
  expect(await run('--chekc')).toMatchObject({ code: 2, error: expect.stringContaining("'--chekc'") })
  expect((await run('--help')).out).toContain('examples:')
})

it('--watch writes a module again when its file changes', async () => {
  const folder = await folderOf({ 'src/axpy.wgsl': axpy })
  const ending = new AbortController()
  const lines: string[] = []
  const watching = main(
    ['--watch', folder],
    { out: (text) => lines.push(text), error: () => {} },
    { signal: ending.signal },
  )
  while (lines.length < 1) await setTimeout(10)
  // A file system watcher may start shortly after `watch` returns, so the change is repeated until it is
  // seen.
  for (let change = 0; lines.length < 2; change++) {
    await writeFile(join(folder, 'src/axpy.wgsl'), `${axpy}// change ${change}\n`)
    await setTimeout(200)
  }
  ending.abort()
  expect(await watching).toBe(0)
  expect(await readFile(join(folder, 'src/axpy.wgsl.ts'), 'utf8')).toContain('// change')
})
