import { describe, expect, it } from 'vitest'
import { lower, parseWgsl, reflect } from '../index.ts'
import { corpus } from '../testing/corpus.ts'
import { fillBuffer, type KernelBuffer, parseKernelTest } from '../testing/index.ts'
import { readBuffer } from '../testing/kernel-buffers.ts'
import { compileReference } from './index.ts'

/** Runs a kernel with the buffers of its header; returns the contents of its `read_write` buffers by name. */
function runKernel(
  source: string,
  fill = fillBuffer,
): Map<string, { buffer: KernelBuffer; bytes: Uint8Array }> {
  const test = parseKernelTest(source)
  const ir = lower(parseWgsl(source), {
    ...(test.entryPoint === undefined ? {} : { entryPoint: test.entryPoint }),
    constants: test.constants,
  })
  const bindings = new Map<string, Uint8Array>()
  const outputs = new Map<string, { buffer: KernelBuffer; bytes: Uint8Array }>()
  for (const binding of reflect(ir).bindings) {
    const buffer = test.buffers.find((b) => b.name === binding.name)!
    const bytes = fill(buffer)
    bindings.set(`${binding.group}.${binding.binding}`, bytes)
    if (binding.access === 'read_write') outputs.set(binding.name, { buffer, bytes })
  }
  compileReference(ir).run({ workgroups: test.workgroups, bindings })
  return outputs
}

/**
 * The bytes of output `name` of a one-workgroup kernel whose body is `body`, over `in_f`, `in_i` and `in_u`
 * of 8 scalars.
 */
function evaluate(body: string, output: string, declarations = ''): number[] {
  const source = `// run: workgroups=1,1,1
// buffer in_f: f32[8] values(0, 1.5, -2.5, 3.25, -0.5, 100, 0.001, 7)
// buffer in_i: i32[8] values(0, 1, -1, 7, -7, 2147483647, -2147483648, 13)
// buffer out: ${output}[8]
@group(0) @binding(0) var<storage, read> in_f: array<f32>;
@group(0) @binding(1) var<storage, read> in_i: array<i32>;
@group(0) @binding(2) var<storage, read_write> out: array<${output}>;
${declarations}
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
  _ = in_f[0]; _ = in_i[0];
  ${body}
}`
  const { buffer, bytes } = runKernel(source).get('out')!
  return readBuffer(buffer, bytes)
}

describe('the reference executor', () => {
  it('wraps and guards integers as WGSL defines', () => {
    expect(evaluate('out[i] = in_i[i] + 1;', 'i32')).toEqual([1, 2, 0, 8, -6, -2147483648, -2147483647, 14])
    expect(evaluate('out[i] = in_i[i] / in_i[0];', 'i32')).toEqual([
      0, 1, -1, 7, -7, 2147483647, -2147483648, 13,
    ])
    expect(evaluate('out[i] = in_i[i] / in_i[2];', 'i32')[6]).toBe(-2147483648)
    expect(evaluate('out[i] = in_i[i] % 4;', 'i32')).toEqual([0, 1, -1, 3, -3, 3, 0, 1])
    expect(evaluate('out[i] = in_i[i] * in_i[5];', 'i32')[5]).toBe(1)
    expect(evaluate('out[i] = 1u << (u32(in_i[i]) + 32u);', 'u32')[1]).toBe(2)
  })
  it('rounds f32 once per operation and clamps conversions', () => {
    expect(evaluate('out[i] = in_f[i] + 16777216.0;', 'f32')[1]).toBe(16777218)
    expect(evaluate('out[i] = in_f[6] * 3.0;', 'f32')[0]).toBe(Math.fround(Math.fround(0.001) * 3))
    expect(evaluate('out[i] = i32(in_f[i] * 1e9);', 'i32').slice(1, 3)).toEqual([1500000000, -2147483648])
    expect(evaluate('out[i] = u32(in_f[i]);', 'u32')).toEqual([0, 1, 0, 3, 0, 100, 0, 7])
  })
  it('runs vectors, matrices, swizzles, structures and pointers', () => {
    const declarations = `struct Pair { a: vec3f, b: i32 }
      fn bump(p: ptr<function, Pair>, by: f32) { (*p).a.y += by; (*p).b = (*p).b * 2; }`
    const body = `var pair = Pair(vec3f(1, 2, 3), 5);
      bump(&pair, f32(i));
      pair.a = pair.a.zyx;
      let m = mat2x2f(1, 2, 3, 4) * vec2f(1, f32(pair.b));
      out[i] = pair.a.x * 1000 + pair.a.y * 100 + m.x + m.y;`
    expect(evaluate(body, 'f32', declarations)[3]).toBe(3000 + 500 + 31 + 42)
  })
  it('runs loops, switches and continuing parts', () => {
    const body = `var sum = 0; var n = 0;
      loop { if n == 3 { n += 2; continue; }
        switch n { case 1, 2 { sum += 10; } default { sum += 1; } }
        continuing { n += 1; break if n > 7; } }
      for (var k = 0; k < 10; k++) { if k % 2 == 0 { continue; } sum += k; }
      while n > 0 { n -= 4; }
      out[i] = sum * 10 + n;`
    expect(evaluate(body, 'i32')[0]).toBe((1 + 10 + 10 + 1 + 1 + 25) * 10 + 0)
  })
  it.each([2 ** 31 - 1, 2 ** 30 - 1, 2 ** 32 - 1])('runs a switch whose cases end at %i, often', (last) => {
    const cases = [6, 5, 4, 3, 2, 1, 0].map((k) => `case ${last - k}u { value = ${k + 1}u; }`).join(' ')
    const declarations = `fn chosen(k: u32) -> u32 { var value = 0u; switch k { ${cases} default { value = 100u; } } return value; }`
    const body = `for (var k = 0u; k < 400000u; k++) { out[i] += chosen(${last - 7}u + (k & 7u)); }`
    expect(evaluate(body, 'u32', declarations)[0]).toBe((28 + 100) * 50000)
  })
  it('stores into a variable that evaluating the value replaces', () => {
    const declarations = `var<private> p: array<i32, 2>;
      fn replace() -> i32 { p = array(7, 8); return 1; }`
    expect(evaluate('p[0] = replace(); out[i] = p[0] * 10 + p[1];', 'i32', declarations)[0]).toBe(18)
    expect(evaluate('p[1] += replace(); out[i] = p[0] * 10 + p[1];', 'i32', declarations)[0]).toBe(71)
  })
  it("reads a vector before a later operand's call changes it", () => {
    const declarations = `var<private> p = vec2i(1, 2);
      fn change() -> vec2i { p.x = 50; return p; }`
    const body = `let sum = p + change(); let least = min(p, change()); p.x = 3; p -= change();
      out[i] = sum.x * 10000 + sum.y * 1000 + least.x * 10 + p.x;`
    expect(evaluate(body, 'i32', declarations)[0]).toBe(51 * 10000 + 4 * 1000 + 50 * 10 + (3 - 50))
  })
  it('converts a NaN to true, also one that was computed', () => {
    expect(evaluate('out[i] = u32(bool(in_f[i] / in_f[0]));', 'u32').slice(0, 2)).toEqual([1, 1])
    expect(
      evaluate('out[i] = u32(vec2<bool>(vec2f(in_f[i] - in_f[i], in_f[i] % in_f[0])).y);', 'u32')[1],
    ).toBe(1)
  })

  it('keeps the bits of a NaN', () => {
    const body = 'let nan = bitcast<f32>(in_i[0] ^ 0x7fc12345); out[i] = bitcast<i32>(nan) + i32(nan == nan);'
    expect(evaluate(body, 'i32')[0]).toBe(0x7fc12345)
    expect(evaluate('out[i] = bitcast<f32>(in_i[0] ^ 0x7fc12345);', 'f32')[0]).toBeNaN()
  })
  it('shares workgroup memory across barriers and gives each invocation its own private variables', () => {
    const declarations = 'var<workgroup> shared_values: array<i32, 8>; var<private> mine: i32 = 3;'
    const body = `mine += i32(i); shared_values[i] = mine; workgroupBarrier(); out[i] = shared_values[7u - i];`
    expect(evaluate(body, 'i32', declarations)).toEqual([10, 9, 8, 7, 6, 5, 4, 3])
  })
  it('performs a subgroup operation with all lanes whose control flow has come together', () => {
    const source = `// run: workgroups=1,1,1
// buffer out: u32[32]
enable subgroups;
diagnostic(off, subgroup_uniformity);
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn most(x: u32) -> u32 { return subgroupMax(x); }
@compute @workgroup_size(32) fn main(@builtin(local_invocation_index) li: u32) {
  var sum = 0u;
  if li < 16 { sum += subgroupMin(5u); sum += 10 * most(li); } else { sum += 1000 * subgroupAdd(1u); }
  sum += 100000 * most(li);
  for (var k = 0u; k <= (li & 1u); k++) {
    if li == 3 { sum += 5000000 * subgroupAdd(1u); } else { sum += 10000000 * subgroupAdd(1u); }
  }
  out[li] = sum;
}`
    const { buffer, bytes } = runKernel(source).get('out')!
    const expected = (li: number) =>
      (li < 16 ? 5 + 10 * 15 : 16000) + 3100000 + (li === 3 ? 10000000 : li % 2 === 0 ? 310000000 : 460000000)
    expect(readBuffer(buffer, bytes)).toEqual(Array.from({ length: 32 }, (_, li) => expected(li)))
  })
  it('reports a barrier that some invocations do not reach', () => {
    const ir = lower(
      parseWgsl(`enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(8) fn main(@builtin(num_subgroups) i: u32) {
  if i < 4u { workgroupBarrier(); out[0] = 1; }
}`),
    )
    // WGSL that passes the uniformity analysis contains no such barrier, but IR from other sources may.
    Object.assign(ir.entryPoint.parameters[0]!, { builtin: 'local_invocation_index' })
    const bindings = new Map([['0.0', new Uint8Array(4)]])
    expect(() => compileReference(ir).run({ workgroups: [1, 1, 1], bindings })).toThrow(/4 of 8 invocations/)
  })
  it('reports every access, in bytes of the binding', () => {
    const source = `// run: workgroups=1,1,1
@group(0) @binding(0) var<storage, read> a: array<vec2f>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(1) fn main() { b[3] = a[1].y; }`
    const ir = lower(parseWgsl(source))
    const seen: string[] = []
    compileReference(ir).run({
      workgroups: [1, 1, 1],
      bindings: new Map([
        ['0.0', new Uint8Array(64)],
        ['0.1', new Uint8Array(64)],
      ]),
      onAccess: (binding, offset, length, use) => seen.push(`${use} ${binding} ${offset}+${length}`),
    })
    expect(seen).toEqual(['read 0.0 12+4', 'write 0.1 12+4'])
  })
})

it('compiles expressions as deep as the language allows', () => {
  const chain = (operator: string) => new Array(500).fill('u32(in_i[1])').join(` ${operator} `)
  const values = ['+', '-', '*', '/', '%', '&', '|', '^'].map(
    (operator) => evaluate(`out[0] = ${chain(operator)};`, 'u32')[0],
  )
  expect(values).toEqual([500, 2 ** 32 - 498, 1, 1, 0, 1, 1, 0])
})

describe('the corpus', () => {
  const sources = corpus('accepted', 'generated')
  /** Subgroup operations need lockstep, which running invocations one after another does not provide. */
  const runnable = sources.filter(({ source }) => !/^enable subgroups/m.test(source))

  it('runs, except for kernels with subgroups', () => {
    const failures = runnable.flatMap(({ name, source }) => {
      try {
        runKernel(source)
        return []
      } catch (error) {
        return [`${name}: ${(error as Error).message}`]
      }
    })
    expect(failures).toEqual([])
    expect(runnable.length).toBeGreaterThan(300)
  })
})
