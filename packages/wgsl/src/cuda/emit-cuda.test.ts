import { describe, expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import type { LocalVariable } from '../ir.ts'
import { reflect } from '../reflect.ts'
import { emitCuda } from './emit-cuda.ts'
import type { CudaBounds, CudaKernel } from './kernel.ts'
import { Names } from './names.ts'
import { providedNames } from './prelude/link.ts'
import { buildCpuProgram } from './testing/cpu-program.ts'
import { hasProgram } from './testing/kernel-cases.ts'

function emit(source: string, bounds: CudaBounds = 'clamp', constants = {}): CudaKernel {
  return emitCuda(lower(parseWgsl(source, { label: 'test.wgsl' }), { constants }), { bounds })
}

/** The kernel's own text, without prelude. */
function body(source: string, bounds: CudaBounds = 'clamp'): string {
  return emit(source, bounds).parts.body
}

const io = `
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<uniform> n: u32;`

describe('names', () => {
  it('are not reserved in C++, and differ for different members', () => {
    const text =
      body(`struct char8 { x: u32 } struct char16 { x: u32 } struct char32 { x: u32 } struct wchar { x: u32 }
      struct S { ü: u32, ufcu: u32, ufcü: u32, üfcu: u32 }
      @group(0) @binding(0) var<storage, read_write> out: array<u32>;
      @compute @workgroup_size(1) fn main() {
        let s = S(1, 2, 3, 4);
        out[0] = s.ü + s.ufcu + s.ufcü + s.üfcu + char8(out[1]).x + char16(out[1]).x + char32(out[1]).x + wchar(out[1]).x;
      }`)
    expect(text.match(/\b(char8|char16|char32|wchar)_t\b/g)).toBeNull()
    const members = /struct (?:alignas\(4\) )?S_t \{\n((?: {2}unsigned \w+;\n)+)/.exec(text)![1]!
    expect(new Set(members.trim().split('\n')).size).toBe(4)
  })

  it('are not macros of the headers that nvcc includes', () => {
    const blocks = Array.from(
      { length: 6 },
      (_, i) => `{ let M_PI = out[${i}]; let M_SQRT1 = M_PI; out[9] = M_SQRT1;`,
    )
    const text = body(`struct S { _SIZE_T: u32, n_SIZE_T: u32, _Row: u32 } struct _T_SIZE { a: u32 }
      @group(0) @binding(0) var<storage, read_write> out: array<u32>;
      var<private> _WCHAR_T: u32;
      fn _PTRDIFF_T(_SIZE_T: u32) -> u32 { let n_SIZE_T = _SIZE_T; return n_SIZE_T + _WCHAR_T; }
      @compute @workgroup_size(1) fn _LIBC_LIMITS_H() {
        let s = S(1, 2, 3);
        out[0] = _PTRDIFF_T(s._SIZE_T + s.n_SIZE_T + s._Row + _T_SIZE(4).a);
        ${blocks.join('\n')} ${'}'.repeat(6)}
      }`)
    expect(text.match(/\b(_[A-Z]\w*|M_PI_2|M_PI_4|M_SQRT1_2)\b/g)).toBeNull()
    expect(text.match(/\bn?_SIZE_T\w*;/g)!.slice(0, 2)).toEqual(['n_SIZE_T_n;', 'n_SIZE_T_;'])
    expect(text).toContain('const unsigned n_SIZE_T_1 = n_SIZE_T_;')
  })

  it('are unique, including those derived from bindings, and none is a name of the prelude', () => {
    const variables = ['x', 'x_row', 'trap', 'y'].map(
      (name, i) => `@group(0) @binding(${i}) var<storage, read_write> ${name}: array<u32>;`,
    )
    const { parameters, source } = emit(
      `${variables.join('\n')} @compute @workgroup_size(1) fn main() { x[0] = x_row[0] + trap[0] + y[0]; }`,
      'trap',
    )
    const declared = parameters.map((p) => p.name)
    expect(new Set(declared).size).toBe(declared.length)
    expect(source.match(/const trap_view \w+/g)).toEqual(
      ['x_', 'x_row_', 'trap_1', 'y_'].map((name) => `const trap_view ${name}view`),
    )
    const buffer = `@group(0) @binding(0) var<storage, read_write> array: buffer;
      @group(0) @binding(1) var<storage, read_write> y: u32;
      @compute @workgroup_size(1) fn main() { y = bufferLength(&array); }`
    expect(body(buffer)).toContain('const unsigned array_1length = array_length(array_1bytes')
    const derived = /^(\w+)_(bytes|length|view|offset|rowbytes|rows|rowstride|buffer)$/
    const bases = [...providedNames].flatMap((name) => derived.exec(name)?.[1] ?? [])
    expect(bases).toContain('matrix_in')
    for (const name of bases) expect(new Names().of({ id: 1, name } as LocalVariable)).not.toBe(`${name}_`)
  })
})

it('launch bounds are the size of the workgroup and the workgroups that should share a multiprocessor', () => {
  const module = lower(parseWgsl('@compute @workgroup_size(8, 4) fn main() {}'))
  expect(emitCuda(module, { bounds: 'clamp' }).source).toContain('__launch_bounds__(32) ')
  const two = emitCuda(module, { bounds: 'clamp', workgroupsPerMultiprocessor: 2 })
  expect(two.source).toContain('__launch_bounds__(32, 2) ')
})

describe('the parameters of a kernel', () => {
  const source = `${io} @compute @workgroup_size(8, 2) fn main(@builtin(local_invocation_index) i: u32) { out[i] = a[n]; }`

  it('come after a label that is kept on one line', () => {
    const source = '@compute @workgroup_size(1) fn main() { let x = 1; _ = x; }'
    const { source: text } = emitCuda(lower(parseWgsl(source, { label: 'a\r\n"b"\\\u2028' })), {
      bounds: 'clamp',
    })
    expect(text.split(/[\r\n\u2028]/)[0]).toBe('// a "b"\\ : translated from WGSL, bounds: clamp')
    expect(text).toContain(`#line 1 "a 'b'/ "\n`)
  })

  it('follow reflect().bindings', () => {
    const kernel = emit(source)
    const bindings = reflect(lower(parseWgsl(source))).bindings
    expect(kernel.parameters.map((p) => [p.kind, p.bindingIndex && bindings[p.bindingIndex]!.name])).toEqual([
      ['storage', 0],
      ['byte-length', 0],
      ['storage', 'out'],
      ['byte-length', 'out'],
      ['uniform', 'n'],
    ])
    expect(kernel.parameters.map((p) => p.type)).toEqual([
      'const unsigned* __restrict__',
      'unsigned long long',
      'unsigned*',
      'unsigned long long',
      'const unsigned* __restrict__',
    ])
    expect(kernel.workgroupSize).toEqual([8, 2, 1])
    expect(kernel.entryName).toBe('main_')
  })

  it('add four words of view and the record in trap mode', () => {
    const { parameters } = emit(source, 'trap')
    expect(parameters.map((p) => p.kind).join(' ')).toBe(
      'storage byte-length view view view view storage byte-length view view view view uniform trap-record',
    )
    expect(parameters.slice(2, 6).map((p) => p.name)).toEqual([
      'a_offset',
      'a_rowbytes',
      'a_rows',
      'a_rowstride',
    ])
  })
})

describe('bounds checks', () => {
  it('must be of a known kind, even if the caller is JavaScript without types', () => {
    const module = lower(parseWgsl('@compute @workgroup_size(1) fn main() {}'))
    for (const options of [{ bounds: 'clamped' }, {}, undefined])
      expect(() => emitCuda(module, options as never)).toThrow(/must be clamp, trap or unchecked/)
  })

  it('cannot be trap in an indirect kernel, which reads the numbers of workgroups', () => {
    const module = lower(parseWgsl('@compute @workgroup_size(1) fn main() {}'))
    const { parameters } = emitCuda(module, { bounds: 'clamp', stoppable: true, indirect: true })
    expect(parameters.map((p) => p.kind)).toEqual(['stop-word', 'workgroup-counts', 'most-workgroups'])
    expect(() => emitCuda(module, { bounds: 'trap', indirect: true })).toThrow(
      "with the option 'indirect' has no bounds 'trap'",
    )
  })

  const kernel = (statements: string, declarations = '') => `${io}
    ${declarations}
    var<workgroup> tile: array<u32, 64>;
    @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3u) {
      ${statements} }`

  it('are omitted if the index is known to be in bounds', () => {
    const text = body(
      kernel(
        `tile[i] = 1u; tile[i + 32u] = 2u; workgroupBarrier();
        for (var k = 0u; k < 32u; k += 4u) { tile[k + (i & 3u) + (i / 16u) * 32u] += 1u; }
        var local = array<u32, 8>();
        for (var k = 0; k < 8; k++) { local[k] = tile[min(n, 63u)]; }
        sum(local[i % 8u]);`,
        'fn sum(x: u32) { tile[0] += x; }',
      ),
    )
    expect(text.match(/min\(/g)).toHaveLength(1)
    expect(text).toContain('tile_[min(n_, 63u)]')
  })

  it('are also omitted in helper functions and behind conditions', () => {
    const text = body(
      kernel(
        'tile[at(i, 1u)] = 2u; if (n < 64u) { tile[n] = 3u; }',
        'fn at(row: u32, column: u32) -> u32 { return row * 2u + column; }',
      ),
    )
    expect(text).toContain('tile_[at_(i_, 1u)] = 2u')
    expect(text).toContain('tile_[n_] = 3u')
  })

  it('stay if a length is compared, and after an early return', () => {
    const text = body(
      kernel('if (id.x < arrayLength(&out)) { out[id.x] = 1u; } if (n >= 64u) { return; } tile[n] = 2u;'),
    )
    expect(text).toContain('if (id_.x < out_length) out_[id_.x] = 1u')
    expect(text).toContain('tile_[min(n_, 63u)] = 2u')
  })

  it('stay if an index could be out of bounds', () => {
    const text = body(kernel('var k = n; if (k < 64u) { k += 1u; tile[k] = a[k]; } out[k] = tile[i + 33u];'))
    expect(text).toContain('tile_[min(k_, 63u)] = a_[min(k_, a_length - 1u)]')
    expect(text).toContain('if (k_ < out_length) out_[k_] = tile_[min(i_ + 33u, 63u)]')
  })

  it('stay if the counter of a loop may wrap around', () => {
    const text = body(
      kernel(
        'var sum = 0u; for (var k = 5; k < i32(n); k += 1073741824) { sum += tile[min(k, 7)]; } out[i] = sum;',
      ),
    )
    expect(text).toContain('tile_[min((unsigned)(min(k_, 7)), 63u)]')
  })

  it('are absent with bounds: unchecked', () => {
    const text = body(kernel('tile[n] = 1u; workgroupBarrier(); out[n] = a[n] + tile[n + 1u];'), 'unchecked')
    expect(text).not.toMatch(/min\(|_length/)
  })
})

describe('collective calls and other effects', () => {
  const kernel = (statements: string, declarations = '') => `enable subgroups; ${io}
    var<workgroup> tile: array<u32, 32>;
    ${declarations}
    @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) { ${statements} }`
  const unguarded = (text: string, call: string) => {
    const line = text.split('\n').find((l) => l.includes(call))!
    expect(line).toContain(call)
    expect(line).not.toMatch(/\bif \(|\?/)
  }

  it('are outside the guards of the stores that use their values', () => {
    unguarded(body(kernel('out[i] = subgroupAdd(n);')), 'subgroupAdd(0xffffffffu')
    unguarded(body(kernel('out[i] += subgroupMax(n);')), 'subgroupMax(0xffffffffu')
    unguarded(body(kernel('out[i] = workgroupUniformLoad(&tile[n]);')), 'workgroupUniformLoad(')
    const f = 'fn f() -> u32 { return subgroupAdd(n); }'
    unguarded(body(kernel('out[i] = f();', f)), ' f_(')
    const state = 'var<private> state = 0u; fn f() -> u32 { state += 1u; return state; }'
    unguarded(body(kernel('out[i] += f();', state)), ' f_(')
  })

  it('are outside the guards of atomics that use their values, with bounds: trap', () => {
    const atomic = '@group(0) @binding(3) var<storage, read_write> c: array<atomic<u32>>;'
    unguarded(body(kernel('atomicAdd(&c[i], subgroupAdd(n));', atomic), 'trap'), 'subgroupAdd(0xffffffffu')
  })

  it('come after the conditions that precede them', () => {
    const f = 'fn f(p: ptr<function, u32>) -> u32 { *p += 1u; return *p; }'
    const chain = (condition: string) =>
      body(kernel(`var k = 0u; if (n > 2u) { out[i] = 1u; } else if (${condition}) { out[i] = k; }`, f))
    expect(chain('f(&k) > n')).toContain('} else if (f_(k_) > n_) {')
    // A value that must be saved before the call is saved in the branch.
    expect(chain('k + f(&k) > n')).toMatch(
      /\} else \{\n +const unsigned (\w+) = k_;\n +if \(\(\1 \+ f_\(k_\)\) > n_\) \{/,
    )
  })

  it('do not change an index that was evaluated before them', () => {
    const declarations = `var<workgroup> counts: array<atomic<u32>, 32>;
      fn f(p: ptr<function, u32>) -> u32 { *p += 1u; return *p; }
      fn g(p: ptr<function, u32>, x: u32) { *p = x; }`
    const atomic = body(kernel('var k = 0u; atomicAdd(&counts[k], f(&k));', declarations))
    expect(atomic).toMatch(
      /const unsigned (index_\d*) = k_;\n.*atomicAdd\(counts_\[min\(\1, 31u\)\], f_\(k_\)\)/,
    )
    const call = body(kernel('var k = 0u; var v: array<u32, 4>; g(&v[k], f(&k));', declarations))
    expect(call).toMatch(/const unsigned (index_\d*) = k_;\n.*g_\(v_\[min\(\1, 3u\)\], f_\(k_\)\)/)
  })
})

describe('the features that a kernel reports', () => {
  it('do not depend on the names of its functions', () => {
    const named = (name: string) =>
      emit(
        `${io} fn ${name}(x: u32) -> u32 { return x; } @compute @workgroup_size(8) fn main() { out[0] = ${name}(n); }`,
      )
    for (const name of ['subgroupFoo', 'quadBar', 'dot4U8Packed_', 'workgroupUniformLoad_'])
      expect(named(name)).toMatchObject({
        minimumComputeCapability: undefined,
        usesSubgroups: false,
        usesBarriers: false,
      })
  })

  it('are those that its statements use', () => {
    const uses = (statements: string) =>
      emit(`enable subgroups; ${io} @compute @workgroup_size(32) fn main() { ${statements} }`)
    expect(uses('out[0] = subgroupAdd(n);')).toMatchObject({
      minimumComputeCapability: [7, 0],
      usesSubgroups: true,
    })
    expect(uses('workgroupBarrier();').usesBarriers).toBe(true)
  })
})

describe('generated code', () => {
  it('maps its lines to WGSL lines', () => {
    const kernel = emit(
      `${io}\n\n@compute @workgroup_size(1)\nfn main() {\n\n  let x = a[0];\n  out[0] = x;\n}`,
    )
    const lines = kernel.source.split('\n')
    const at = lines.findIndex((l) => l.includes('if (0u < out_length) out_[0u]'))
    expect(kernel.lineMap[at]).toBe(10)
    expect(lines.slice(0, at).findLast((l) => l.startsWith('#line'))).toBe('#line 9 "test.wgsl"')
  })

  it('has no #include, and only the parts of the prelude that it uses', () => {
    const kernel = emit(
      '@group(0) @binding(0) var<storage, read_write> o: array<f32, 4>; @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) { o[i] = f32(i) * 2.0; }',
    )
    expect(kernel.source).not.toContain('#include')
    expect(kernel.source).not.toMatch(/struct vec|f16|shuffle|div\(/)
  })

  it('puts workgroup memory above 48 KiB into dynamic memory', () => {
    const kernel = emit(`${io} var<workgroup> big: array<u32, 16384>; var<workgroup> flag: u32;
      fn fill(i: u32) { big[i] = i; }
      @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) { fill(i * 256u); flag = 1u; workgroupBarrier(); out[i] = big[i * 256u] + flag; }`)
    expect([kernel.staticSharedByteLength, kernel.dynamicSharedByteLength]).toEqual([0, 65552])
  })

  it('declares variables that a continuing part uses, even in part, before the body', () => {
    const text = body(`${io} @compute @workgroup_size(1) fn main() {
      loop { var v = array(1u, 2u); var w = vec2u(n); let x = n; let y = n + 1u; if (n == 3u) { continue; } out[y] = 1u;
        continuing { v[x & 1u] = 3u; w.y += v[0]; out[0] = w.y; break if w.x > 2u; } }
    }`)
    const ahead = text.slice(text.indexOf('while (true)'), text.indexOf('n_ + 1u'))
    expect([...ahead.matchAll(/^ +[\w<>, ]+(?:&&)? (\w+_)(?:;| = local<)/gm)].map((m) => m[1])).toEqual([
      'v_',
      'w_',
      'x_',
    ])
  })

  it('stays short if lets are used several times', () => {
    const steps = Array.from({ length: 60 }, (_, k) => `let x${k + 1} = x${k} ^ (x${k} << 13u);`).join('\n')
    const text = body(`${io} @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
      let x0 = i; ${steps} if (x60 < 8u) { out[x60] = a[x60 & 7u]; }
      tile[x60 & 31u] = quads[x60]; workgroupBarrier(); out[i] += tile[x60 & 31u].x; }
      var<workgroup> tile: array<vec4u, 32>;
      @group(0) @binding(3) var<storage, read> quads: array<vec4u>;`)
    expect(text).toContain('async_copy(tile_[x60_ & 31u], quads_[min(x60_, quads_length - 1u)]);')
    expect(text).toContain('a_[min(x60_ & 7u, a_length - 1u)]')
  })

  it('takes time in proportion to the depth of nested calls', () => {
    const functions = Array.from(
      { length: 60 },
      (_, k) => `fn f${k + 1}(x: u32) -> u32 { let y = f${k}(x); tile[y & 7u] = y; return y + f${k}(y); }`,
    )
    const text = body(`${io} var<workgroup> tile: array<u32, 8>;
      fn f0(x: u32) -> u32 { return x; }
      ${functions.join('\n')}
      @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) { tile[i] = f60(i); workgroupBarrier(); out[i] = tile[7u - i]; }`)
    expect(text).toContain('f60_(i_')
  })

  it('unrolls loops with few iterations, so that local arrays stay in registers', () => {
    const text = body(`${io} @compute @workgroup_size(1) fn main() {
      var sums: array<u32, 8>;
      for (var i = 0u; i < 8u; i++) { for (var j = 0u; j < 8u; j++) { sums[i] += a[i * 8u + j]; } }
      for (var i = 0u; i < n; i++) { out[i] = sums[i % 8u]; } }`)
    expect(text.match(/_Pragma\("unroll"\)/g)).toHaveLength(2)
    expect(text.match(/KEPT_LOOP/g)).toHaveLength(1)
  })
})

describe.skipIf(!hasProgram('g++'))('accesses outside bindings (needs g++)', () => {
  const source = `${io} @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) { out[i * 3u] = a[i] + n; }`
  const words = (...values: number[]) => new Uint8Array(Uint32Array.from(values).buffer)
  const input = () => words(10, 11, 12, 13)
  const output = () => words(0, 0, 0, 0, 0, 0, 0, 0)

  it('read the last element and write nothing with bounds: clamp', async () => {
    const program = await buildCpuProgram([emit(source)])
    const [result] = await program.run([
      { kernel: 0, grid: [1, 1, 1], parameters: [input(), 16n, output(), 32n, words(5)] },
    ])
    expect(result).toEqual({ buffers: [input(), words(15, 0, 0, 16, 0, 0, 17, 0), words(5)] })
  })

  it('are recorded and skipped with bounds: trap', async () => {
    const program = await buildCpuProgram([emit(source, 'trap')])
    // The view of `out` is two rows of one word, 12 bytes apart: elements 0 and 3.
    const [result] = await program.run([
      {
        kernel: 0,
        grid: [1, 1, 1],
        parameters: [
          input(),
          16n,
          0n,
          16n,
          1n,
          16n,
          output(),
          32n,
          0n,
          4n,
          2n,
          12n,
          words(5),
          new Uint8Array(64),
        ],
      },
    ])
    if (result === undefined || 'failure' in result) throw new Error('the job fails')
    const [, out, , record] = result.buffers.map((b) => new Uint32Array(b.slice().buffer))
    expect([...out!]).toEqual([15, 0, 0, 16, 0, 0, 0, 0])
    // Thread 2 writes element 6, the first out-of-bounds access.
    expect([...record!.slice(0, 10)]).toEqual([1, 1, 6, 0, 0, 0, 0, 2, 0, 0])
  })

  it('stop the job, not the program, with bounds: unchecked', async () => {
    const program = await buildCpuProgram([emit(source, 'unchecked')])
    const parameters = () => [words(1), 4n, output(), 32n, words(5)]
    const [bad] = await program.run([{ kernel: 0, grid: [1, 1, 1], parameters: parameters() }])
    expect(bad).toHaveProperty('failure')
  })
})

it('a chain of thousands of lets before a loop, a copy and a store does not overflow the stack', () => {
  const lets = Array.from({ length: 5000 }, (_, i) => `let x${i + 1} = x${i} + 1u;`).join('\n')
  const text = body(`${io}
    @group(0) @binding(3) var<storage, read> quads: array<vec4u>;
    var<workgroup> tile: array<vec4u, 64>;
    var<workgroup> words: array<u32, 64>;
    @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) x0: u32) {
      ${lets}
      tile[x5000] = quads[x5000];
      words[x5000 - 5000u] = a[x0];
      workgroupBarrier();
      for (var k = 0u; k < x5000; k++) { out[k] = tile[x0].y + words[63u - x0]; }
    }`)
  expect(text).toContain('async_copy(tile_[min(x5000_, 63u)]')
  expect(text).not.toContain('zero_workgroup(&words_')
})

it('a function and the entry point may have more statements than a call takes arguments', () => {
  const blocks = '{}'.repeat(130_000)
  const module = lower(
    parseWgsl(`${io} fn f() { ${blocks} } @compute @workgroup_size(1) fn main() { f(); ${blocks} }`),
  )
  const { parts } = emitCuda(module, { bounds: 'clamp', stoppable: true })
  expect(parts.body.match(/^ {2}\{$/gm)).toHaveLength(2 * 130_000)
})

it.skipIf(!hasProgram('g++'))(
  'a subgroup matrix beyond an array of fixed length, or a view of fixed size, is skipped and recorded with bounds: trap (needs g++)',
  async () => {
    const kernel = (address: string) =>
      emit(
        `enable chromium_experimental_subgroup_matrix;
        requires buffer_view;
        alias Sum = subgroup_matrix_result<f32, 16, 16>;
        struct Tiles { first: array<f32, 256>, second: array<f32, 256> }
        @group(0) @binding(0) var<storage, read_write> m: ${address.includes('View') ? 'buffer' : 'Tiles'};
        @compute @workgroup_size(32) fn main() {
          var at = 64u;
          subgroupMatrixStore<row_major>(${address}, at, Sum(9f), 16u);
        }`,
        'trap',
      )
    const view = 'bufferArrayView<array<f32>>(&m, 0u, 1024u)'
    const program = await buildCpuProgram([kernel('&m.first'), kernel(view)])
    const results = await program.run(
      [0, 1].map((index) => ({
        kernel: index,
        grid: [1, 1, 1] as const,
        parameters: [new Uint8Array(2048), 2048n, 0n, 2048n, 1n, 2048n, new Uint8Array(64)],
      })),
    )
    for (const result of results) {
      if ('failure' in result) throw new Error(result.failure)
      const [bytes, record] = result.buffers
      expect(bytes!.every((byte) => byte === 0)).toBe(true)
      expect([...record!.slice(0, 12)]).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0])
    }
  },
)

it.skipIf(!hasProgram('g++'))(
  'the runtime-sized array of a view at an offset near 2^32 is outside its buffer with bounds: trap (needs g++)',
  async () => {
    const source = `requires buffer_view; struct S { head: vec4u, rest: array<u32> }
      @group(0) @binding(0) var<storage, read_write> b: buffer;
      @compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3u) { bufferView<S>(&b, id.x - 16u).rest[0] = 5u; }`
    const program = await buildCpuProgram([emit(source, 'trap')])
    const parameters = [new Uint8Array(64), 64n, 0n, 64n, 1n, 64n, new Uint8Array(64)]
    const [result] = await program.run([{ kernel: 0, grid: [1, 1, 1], parameters }])
    expect(result).toEqual({ buffers: [new Uint8Array(64), expect.objectContaining({ 0: 1 })] })
  },
)
