import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emitCuda, lower, parseWgsl } from '@tandem-gpu/wgsl'
import { expect, it } from 'vitest'
import { hasOverflowingSigns, hasSignedExtremesOfThree } from './machine-code.ts'
import { cubinOf, signedOfThree, unsignedOfThree } from './testing/cubin.ts'

it('finds signed extremes of three in executable sections', () => {
  const found = (image: Uint8Array, architecture = 'sm_90') => hasSignedExtremesOfThree(image, architecture)
  expect(found(cubinOf(signedOfThree))).toBe(true)
  expect(found(cubinOf(signedOfThree), 'sm_103a')).toBe(true)
  expect(found(cubinOf(signedOfThree), 'sm_89')).toBe(false)
  expect(found(cubinOf(unsignedOfThree))).toBe(false)
  expect(found(cubinOf([signedOfThree[0] + 1n, signedOfThree[1]]))).toBe(false)
  const placed = new Uint8Array([1, 2, 3, ...cubinOf(signedOfThree)]).subarray(3)
  expect(found(placed)).toBe(true)
  expect(found(new TextEncoder().encode('FAKE 1-1 2'))).toBe(false)
})

const nvcc = ((): string | undefined => {
  for (const program of ['nvcc', '/usr/local/cuda/bin/nvcc'])
    try {
      execFileSync(program, ['--version'], { stdio: 'ignore' })
      return program
    } catch {}
  return undefined
})()

/** nvcc's machine code, or PTX, of a kernel with these statements. */
function compiled(
  as: 'cubin' | 'ptx',
  statements: string,
  options: readonly string[],
  architecture: string,
): Uint8Array {
  const source = `@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@group(0) @binding(1) var<storage, read> input: array<vec4i>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  let v = input[id.x];
  ${statements}
}`
  const folder = mkdtempSync(join(tmpdir(), 'tandem-cubin-'))
  try {
    const text = emitCuda(lower(parseWgsl(source)), { bounds: 'clamp', lineDirectives: false }).source
    writeFileSync(join(folder, 'kernel.cu'), text)
    const target = [`-arch=${architecture}`, `-${as}`]
    execFileSync(nvcc!, ['-std=c++17', '-w', ...target, ...options, 'kernel.cu'], {
      cwd: folder,
      stdio: 'pipe',
    })
    return readFileSync(join(folder, `kernel.${as}`))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

it.skipIf(nvcc === undefined).each(['sm_90', 'sm_100', 'sm_103'])(
  'the attempts leave no signed extremes of three for %s (needs nvcc)',
  { timeout: 60_000 },
  (architecture) => {
    const has = (statements: string, ...options: string[]) =>
      hasSignedExtremesOfThree(compiled('cubin', statements, options, architecture), architecture)
    const calls =
      'out[id.x] = max(max(-v.x, v.y), v.z) + min(v.w, min(v.y, -v.x)); out[id.x + 9999] = i32(any(max(max(v, v.yxzw), -v.wzyx) == v));'
    expect(has(calls)).toBe(true)
    expect(has(calls, '-DWGSL_OPAQUE_SIGNS')).toBe(false)
    const conditions =
      'var most = v.x; if (-v.y > most) { most = -v.y; } if (v.z > most) { most = v.z; } out[id.x] = most;'
    expect(has(conditions)).toBe(true)
    expect(has(conditions, '-Xptxas', '-O0')).toBe(false)
    // One extreme of two, and a clamp, stay as they are.
    expect(has('out[id.x] = max(-v.x, v.y) + clamp(-v.z, v.x, v.w);')).toBe(false)
  },
)

it.skipIf(nvcc === undefined).each(['sm_75', 'sm_90', 'sm_100', 'sm_120'])(
  'the attempts leave no signs that overflow for %s (needs nvcc)',
  { timeout: 60_000 },
  (architecture) => {
    const has = (statements: string, ...options: string[]) =>
      hasOverflowingSigns(new TextDecoder().decode(compiled('ptx', statements, options, architecture)))
    const opaque = '-DWGSL_OPAQUE_SIGNS'
    for (const options of [[], [opaque]]) {
      const calls = 'out[id.x] = i32(f32(u32(abs(v.x - v.y)))) + abs(v.z) % v.w; out[id.y] = dot(abs(v), v);'
      expect(has(calls, ...options)).toBe(false)
    }
    const conditions = 'var x = v.x; if (x < 0i) { x = -x; } out[id.x] = x + select(-v.y, v.y, v.y > 0i);'
    expect(has(conditions)).toBe(true)
    expect(has(conditions, opaque)).toBe(false)
    expect(has('let sign = v.x >> 31u; out[id.x] = (v.x ^ sign) - sign;', opaque)).toBe(true)
  },
)
