import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compareBuffers } from '../testing/index.ts'
import { buildCpuProgram } from './testing/cpu-program.ts'
import {
  cpuJob,
  hasProgram,
  kernelCase,
  referenceRun,
  translate,
  translateStoppable,
} from './testing/kernel-cases.ts'

/**
 * A kernel that copies and zeroes arrays of 8,000 bytes `times` times in each of these ways: in function,
 * private, workgroup and storage memory, as arguments, results, operands, and parts of structures.
 */
function copies(times: number): string {
  const statements = Array.from(
    { length: times },
    (_, i) => `  a[x % 500u] = vec4u(x);
  b = a;
  x += b[x % 500u].x;
  p = b;
  p[out[${i}] % 500u].y = x;
  a = array<vec4u, 500>();
  { let copy = p; x += copy[(x + ${i}u) % 500u].y; var zeros: S; zeros.b[x % 3u] = vec3u(x); x += zeros.b[1].z; }
  w = given[x & 1u];
  x ^= w[x % 500u].z + sum(given[1], next(&x)) + sum(w, 1u);
  s[x % 2u].a = p;
  s[1] = S(made(x), array<vec3u, 3>(), array<bool, 200>());
  x += s[x % 2u].a[x % 500u].x + u32(s[0].c[7]) + select(2u, 1u, s[1].c[x % 200u]);
  t[${i % 2}] = T(p, vec3u(x));
`,
  )
  return `// run: workgroups=1,1,1
// buffer out: u32[64] random
// buffer given: u32[4000] random
// buffer t: u32[4032]
struct S { a: array<vec4u, 500>, b: array<vec3u, 3>, c: array<bool, 200> }
struct T { a: array<vec4u, 500>, b: vec3u }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> given: array<array<vec4u, 500>>;
@group(0) @binding(2) var<storage, read_write> t: array<T>;
var<private> p: array<vec4u, 500>;
var<workgroup> w: array<vec4u, 500>;
fn sum(a: array<vec4u, 500>, i: u32) -> u32 { return a[i % 500u].x + a[499].w; }
fn next(x: ptr<function, u32>) -> u32 { *x += 1u; p[3].x += *x; return *x; }
fn made(x: u32) -> array<vec4u, 500> { var a = p; if x > 7u { return a; } a[2].x = x; return a; }
@compute @workgroup_size(1) fn main() {
  var x = out[0];
  var a: array<vec4u, 500>;
  var b: array<vec4u, 500>;
  var s: array<S, 2>;
${statements.join('')}  out[0] = x;
}`
}

/** A kernel that copies an array of 8,000 bytes `times` times. */
const assignments = (times: number) => `// run: workgroups=1,1,1
// buffer out: u32[64]
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  var a: array<vec4u, 500>;
  var b: array<vec4u, 500>;
  ${Array.from({ length: times }, (_, k) => `a[out[i + ${k}u] % 500u].x += i; b = a; out[i] += b[out[i] % 500u].x;`).join('\n  ')}
}`

describe('copies of long arrays, which nvcc would write out element by element', () => {
  it('are made by loops if the kernel has many', () => {
    const loops = (times: number) =>
      translate(kernelCase('copies', assignments(times)), 'clamp').parts.body.match(/\w+_long\(\w+/g)
    // Two arrays of zeros, and the copies, of 500 elements each.
    expect(loops(1)).toBeNull()
    expect(loops(3)).toEqual(['zero_long(a_', 'zero_long(b_', ...Array(3).fill('copy_long(b_')])
  })

  it.skipIf(!hasProgram('g++'))('have the results of the reference executor (needs g++)', async () => {
    const c = kernelCase('copies', copies(3))
    const kernels = [translate(c, 'clamp'), translate(c, 'trap'), translateStoppable(c, 'clamp')]
    for (const { parts } of kernels) expect(parts.body).toContain('copy_long(')
    const program = await buildCpuProgram(kernels)
    const results = await program.run(kernels.map((kernel, i) => cpuJob(c, kernel, i)))
    const expected = referenceRun(c)
    for (const result of results) {
      if ('failure' in result) throw new Error(result.failure)
      for (const [i, { buffer }] of c.inputs.entries())
        expect(compareBuffers(buffer!, result.buffers[i]!, expected[i]!, c.test.tolerance)).toBeUndefined()
    }
  })

  it.skipIf(!hasProgram('nvcc'))('compile in seconds (needs nvcc)', { timeout: 600_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'tandem-copies-'))
    try {
      const { source } = translate(kernelCase('copies', assignments(40)), 'clamp')
      writeFileSync(join(folder, 'copies.cu'), source)
      const flags = ['-std=c++17', '-arch=sm_90', '-w', '-cubin', 'copies.cu']
      execFileSync('nvcc', flags, { cwd: folder, timeout: 60_000 })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
