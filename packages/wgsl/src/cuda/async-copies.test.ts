import { describe, expect, it } from 'vitest'
import { analyse } from '../analysis/analyses.ts'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { findAsyncCopies } from './async-copies.ts'
import { emitCuda } from './emit-cuda.ts'

const declarations = `
@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f>;
@group(0) @binding(2) var<uniform> n: u32;
@group(0) @binding(3) var<storage, read> words: array<u32>;
var<workgroup> tile: array<vec4f, 256>;
var<workgroup> other: array<vec4f, 256>;`

function source(statements: string, more = ''): string {
  return `${declarations}\n${more}
@compute @workgroup_size(32) fn main(@builtin(local_invocation_index) t: u32, @builtin(local_invocation_id) id: vec3u) {
${statements}
}`
}

/**
 * The lines of the body (from 1) with asynchronous copies, and the lines with the barriers or returns before
 * which they are waited for.
 */
function found(statements: string, more = '') {
  const module = lower(parseWgsl(source(statements, more)))
  const result = findAsyncCopies(module, analyse(module))
  const first = source('', more).split('\n').length - 2
  const lines = (nodes: Iterable<{ loc: { line: number } }>) =>
    [...nodes].map((s) => s.loc.line - first).sort((x, y) => x - y)
  return {
    copies: lines(result.copies),
    waits: lines([...result.waits.keys(), ...result.returns]),
    atEnd: result.waitsAtEnd,
  }
}

const copies = (statements: string, more = '') => found(statements, more).copies

describe('asynchronous copies', () => {
  it('are waited for at the barrier that follows', () => {
    expect(
      found(`tile[t] = a[n + t];
        other[t] = a[t];
        workgroupBarrier();
        out[t] = tile[31u - t] + other[t];
        workgroupBarrier();
        tile[t] = a[t];
        storageBarrier();
        out[t] += tile[0];`),
    ).toEqual({ copies: [1, 2, 6], waits: [3, 7], atEnd: false })
  })

  it('are waited for at a barrier that reads the variable itself', () => {
    expect(
      found(`tile[t] = a[t];
        workgroupBarrier();
        let v = workgroupUniformLoad(&tile[5]);
        out[t] = v;`),
    ).toEqual({ copies: [1], waits: [3], atEnd: false })
    expect(
      found(`tile[t] = a[t];
        out[t] = workgroupUniformLoad(&tile[5]);`),
    ).toEqual({ copies: [1], waits: [2], atEnd: false })
    expect(
      copies(`out[t] = workgroupUniformLoad(&tile[5]);
        tile[t] = a[t];
        workgroupBarrier();
        out[t] += tile[31u - t];`),
    ).toEqual([])
  })

  it('stay pending while the other of two variables is read', () => {
    expect(
      found(`tile[t] = a[t];
        workgroupBarrier();
        for (var k = 0u; k < n; k += 2u) {
          other[t] = a[k + t];
          out[t] += tile[k & 31u];
          workgroupBarrier();
          if (k + 1u < n) { tile[t] = a[k + t]; }
          out[t] += other[k & 31u];
          workgroupBarrier();
        }`),
    ).toEqual({ copies: [1, 4, 7], waits: [2, 6, 9], atEnd: false })
  })

  const threeStages = (index: string) => `tile[t] = a[t];
    other[t] = a[t + 32u];
    workgroupBarrier();
    for (var k = 64u; ; k += 96u) {
      third[t] = a[${index}];
      out[t] += tile[31u - t];
      workgroupBarrier();
      if (k > n) { break; }
      tile[t] = a[k + 32u + t];
      out[t] += other[31u - t];
      workgroupBarrier();
      other[t] = a[k + 64u + t];
      out[t] += third[31u - t];
      workgroupBarrier();
    }`
  const third = 'var<workgroup> third: array<vec4f, 256>;'

  it('stay pending across a barrier if nothing accesses the variable until the next one', () => {
    expect(found(threeStages('k + t'), third)).toEqual({
      copies: [1, 2, 5, 9, 12],
      waits: [3, 7, 11, 14],
      atEnd: true,
    })
    const module = lower(parseWgsl(source(threeStages('k + t'), third)))
    const { waits, hasGroups } = findAsyncCopies(module, analyse(module))
    // The two copies before the loop are one group.
    expect([...waits.values()]).toEqual([0, 1, 1, 1])
    expect(hasGroups).toBe(true)
    const text = emitCuda(module, { bounds: 'clamp' }).source
    expect(text.match(/ {2}async_commit\(\);/g)).toHaveLength(4)
    expect(text.match(/ {2}async_wait_before<1u>\(\);/g)).toHaveLength(3)
  })

  it('are waited for if another invocation may read, and copies may write, before the next barrier', () => {
    const waits = (statements: string) => {
      const module = lower(parseWgsl(source(statements, third)))
      const result = findAsyncCopies(module, analyse(module))
      return [[...result.waits.values()], result.hasGroups]
    }
    expect(waits('tile[t] = a[t];\nworkgroupBarrier();\nworkgroupBarrier();\nout[t] = tile[0];')).toEqual([
      [1],
      true,
    ])
    expect(
      waits('tile[t] = a[t];\nworkgroupBarrier();\nif (n > 1u) { out[t] = tile[0]; }\nworkgroupBarrier();'),
    ).toEqual([[0], false])
    expect(
      waits(
        'tile[t] = a[t];\nworkgroupBarrier();\ntile[t + 32u] = a[t];\nworkgroupBarrier();\nout[t] = tile[0];',
      ),
    ).toEqual([[0, 0], false])
    expect(
      waits(
        'tile[t] = a[t];\nworkgroupBarrier();\nother[t] = a[t];\nworkgroupBarrier();\nout[t] = tile[0];\nworkgroupBarrier();\nout[t] += other[0];',
      ),
    ).toEqual([[1, 1], true])
  })

  it('into several elements of a variable are found if these differ', () => {
    expect(copies('tile[t] = a[t];\ntile[t + 32u] = a[t];\ntile[(t + 1u) * 1u + 63u] = a[t];')).toEqual([
      1, 2, 3,
    ])
    expect(copies('let s = t * 4u;\nfor (var k = 0u; k < 4u; k++) {\ntile[s + k] = a[t + k];\n}')).toEqual([
      3,
    ])
    expect(copies('for (var k = t; k < 256u; k += 32u) {\ntile[k] = a[k];\n}')).toEqual([2])
    expect(
      copies(`for (var i = 0u; i < 2u; i++) {
        tile[t + i * 64u] = a[t];
        tile[t + i * 64u + 32u] = a[t];
      }`),
    ).toEqual([2, 3])
    expect(
      copies(`for (var j = 0u; j < n; j++) {
        for (var i = 0u; i < 2u; i++) { tile[t + i * 64u] = a[t]; }
        workgroupBarrier();
      }`),
    ).toEqual([2])
  })

  it('are of four 32-bit numbers, from an element of an array in storage that no kernel changes', () => {
    const sources = `struct S { v: vec4f, list: array<vec4f, 4> }
      @group(0) @binding(4) var<storage, read> s: S;
      @group(0) @binding(5) var<storage, read> m: mat4x4f;
      @group(0) @binding(6) var<storage, read> halves: array<vec4h>;
      @group(0) @binding(7) var<storage, read> bytes: buffer;
      @group(0) @binding(8) var<storage, read> wholes: array<vec4i>;
      var<workgroup> half_tile: array<vec4h, 64>;
      var<workgroup> whole_tile: array<vec4i, 64>;`
    const of = (statement: string) => {
      const module = lower(parseWgsl(`enable f16; requires buffer_view; ${source(statement, sources)}`))
      return findAsyncCopies(module, analyse(module)).copies.size
    }
    for (const one of ['tile[t] = s.list[t];', 'whole_tile[t] = wholes[t];']) expect(of(one)).toBe(1)
    for (const other of ['tile[t] = s.v;', 'tile[t] = m[t & 3u];', 'tile[t] = out[t];'])
      expect(of(other), other).toBe(0)
    expect(of('half_tile[t] = halves[t];')).toBe(0)
    expect(of('tile[t] = bufferView<array<vec4f>>(&bytes, 0)[t];')).toBe(0)
  })

  it('are checked against the elements of every value of a counter, in either direction', () => {
    const two = 'for (var k = 0u; k < 2u; k++) {\ntile[t + k * 64u] = a[k];\n}\n'
    for (const at of ['t', 't + 64u']) expect(copies(`${two}tile[${at}] = a[9];`)).toEqual([])
    for (const at of ['t + 32u', 't - 64u']) expect(copies(`${two}tile[${at}] = a[9];`)).toEqual([2, 4])
    expect(copies(`${two}tile[id.x * 2u + 32u] = a[9];`)).toEqual([])
    expect(copies('tile[t] = a[t];\ntile[id.x + 32u] = a[t];')).toEqual([1, 2])
    expect(copies('tile[t + n - n] = a[t];\ntile[t + 32u] = a[t];')).toEqual([1, 2])
    expect(copies('tile[n * 0u] = a[t];\ntile[5] = a[t];')).toEqual([1, 2])
    expect(copies('tile[(id.xy + id.xy).y] = a[t];\ntile[(id.xz + id.xz).y + 1u] = a[t];')).toEqual([])
  })

  it('are not found if the elements of a counter are unknown or too many', () => {
    const loop = (head: string, index = 'k') =>
      copies(`for (var k = ${head}) { tile[${index}] = a[k]; }`).length
    expect(loop('0u; k < 4096u; k++', 't + k')).toBe(1)
    for (const head of ['0u; k < 4097u; k++', '1u; k > 0u; k /= 2u']) expect(loop(head, 't + k')).toBe(0)
    for (const head of ['t; k <= n; k++', 'words[t] & 3u; k < 8u; k += 4u', '8u; k > 0u; k /= 2u'])
      expect(loop(head), head).toBe(0)
    expect(
      copies('var s = t;\nfor (var k = 0u; k < 4u; k++) {\ntile[k * 64u + s] = a[k];\ns = s ^ 64u;\n}'),
    ).toEqual([])
  })

  it('are not found in a kernel with more paths than are followed', () => {
    const nested = (statements: number) =>
      `${Array.from({ length: 40 }, (_, i) => `for (var k${i} = 0u; k${i} < n; k${i}++) {`).join(' ')}
      tile[t] = a[t]; workgroupBarrier(); ${'out[t] = a[0]; '.repeat(statements)} ${'}'.repeat(40)}`
    expect(copies(nested(100))).toEqual([2])
    expect(copies(nested(1300))).toEqual([])
  })

  it('are not found if the index depends on variables, or on two counters', () => {
    expect(copies('var s = t;\ntile[s] = a[t];')).toEqual([])
    expect(copies('for (var k = 0u; k < 4u; k++) {\nlet s = t + k * 32u;\ntile[s] = a[s];\n}')).toEqual([])
    expect(copies('var s = t;\nlet p = s + 1u;\ntile[p] = a[t];')).toEqual([2 + 1])
    expect(
      copies(`for (var i = 0u; i < 2u; i++) {
        for (var k = 0u; k < 2u; k++) { tile[t + i * 128u + k * 64u] = a[t]; }
      }`),
    ).toEqual([])
    expect(
      copies('rows[t & 3u][t >> 2u] = a[t];', 'var<workgroup> rows: array<array<vec4f, 8>, 4>;'),
    ).toEqual([])
  })

  it('are not found if two may write the same element', () => {
    expect(copies('tile[t] = a[t];\ntile[t] = a[n];')).toEqual([])
    expect(copies('tile[t] = a[t];\ntile[31u - t] = a[t];')).toEqual([])
    expect(copies('tile[t] = a[t];\ntile[words[t]] = a[t];')).toEqual([])
    expect(copies('for (var k = 0u; k < 4u; k++) {\ntile[t + (k & 1u)] = a[k];\n}')).toEqual([])
    expect(copies('for (var k = 0u; k < 4u; k++) {\ntile[t] = a[k];\n}')).toEqual([])
    expect(copies('for (var k = 0u; k < 4u; k++) {\nlet s = words[k];\ntile[s] = a[k];\n}')).toEqual([])
    expect(copies('for (var k = 0u; k < n; k++) {\ntile[t + k] = a[k];\n}')).toEqual([])
    expect(
      copies('for (var k = 0u; k < 4u; k++) {\nfor (var j = 0u; j < 2u; j++) {\ntile[k] = a[k];\n}\n}'),
    ).toEqual([])
    expect(
      copies('for (var k = 0u; k < 4u; k++) {\nvar j = 0u; while (j < n) {\ntile[k] = a[k]; j++;\n}\n}'),
    ).toEqual([])
    expect(copies('for (var k = 0u; k < 4u; k++) {\ntile[k] = a[k];\ntile[k + 1u] = a[k];\n}')).toEqual([])
  })

  it('are not found in a counted loop that is run again before a barrier', () => {
    const fill = (more: string) =>
      `for (var v = 0u; v < n; v++) {\nfor (var k = 0u; k < 4u; k++) { tile[k] = a[k + v]; }\n${more} }`
    expect(copies(fill(''))).toEqual([])
    expect(copies(fill('workgroupBarrier();'))).toEqual([2])
    expect(copies(fill('if (v > 3u) { workgroupBarrier(); }'))).toEqual([])
  })

  it('are not found if the condition of a counted loop also copies, once more than the body', () => {
    const fetch = 'fn fetch(k: u32) -> u32 { tile[k] = a[k]; return n; }'
    const loop = 'for (var k = 0u; min(fetch(k), 4u) > k; k++) {}'
    expect(copies(`tile[4] = a[9];\n${loop}`, fetch)).toEqual([])
    expect(copies(`${loop}\ntile[4] = a[9];`, fetch)).toEqual([])
  })

  it('are not found if the counter of a surrounding loop may wrap around from one to the other', () => {
    const loop = 'for (var k = 4u; k != 0u; k += 1u) { if (k == 8u) { break; } tile[k] = a[k]; }'
    expect(copies(`${loop}\ntile[4] = a[9];`)).toEqual([])
  })

  it('distinguish elements only while the variables in their indices keep their values', () => {
    expect(copies('let s = words[t];\ntile[s] = a[t];\ntile[s + 1u] = a[t];')).toEqual([2, 3])
    expect(
      copies('for (var k = 0u; k < n; k++) {\nlet s = words[k];\ntile[s] = a[t];\nworkgroupBarrier();\n}'),
    ).toEqual([3])
    expect(
      copies(
        'for (var k = 0u; k < n; k++) {\nlet s = words[k];\nif (n == k) { workgroupBarrier(); }\ntile[s] = a[t];\n}',
      ),
    ).toEqual([])
    expect(copies('var s = t;\ntile[s + 1u] = a[t];\ns += 1u;\ntile[s] = a[t];')).toEqual([])
    expect(copies('var s = t;\nlet p = s + 1u;\ns += 1u;\ntile[p] = a[t];\ntile[s + 1u] = a[t];')).toEqual([])
    expect(
      copies(
        'var s = t;\nadvance(&s);\ntile[s] = a[t];\ntile[s + 1u] = a[t];',
        'fn advance(p: ptr<function, u32>) { *p += 1u; }',
      ),
    ).toEqual([])
    expect(
      copies(`for (var k = 0u; k < n; k++) {
        tile[k] = a[k];
        workgroupBarrier();
        tile[k + 1u] = a[k];
      }`),
    ).toEqual([])
  })

  it('are not found if the thread accesses the variable before the barrier', () => {
    expect(copies('tile[t] = a[t];\nout[t] = tile[0];\nworkgroupBarrier();')).toEqual([])
    expect(copies('tile[t] = a[t];\ntile[t + 32u] = vec4f();\nworkgroupBarrier();')).toEqual([])
    expect(copies('tile[t] = a[t];\ntile[t].x = 1.0;\nworkgroupBarrier();')).toEqual([])
    expect(copies('tile[t] = a[t];\nif (n > 3u) { out[t] = tile[t]; }\nworkgroupBarrier();')).toEqual([])
    expect(copies('tile[t] = a[t];\nif (n > 3u) { workgroupBarrier(); }\nout[t] = tile[t];')).toEqual([])
    expect(copies('tile[t] = a[t];\nif (n > 3u && tile[0].x > 1.0) { return; }')).toEqual([])
    expect(copies('tile[t] = a[t];\nif (tile[0].x > 1.0 && n > 3u) { return; }')).toEqual([])
    expect(copies('tile[t] = a[t];\nvar x = tile[0];\nout[t] = x;')).toEqual([])
    expect(copies('tile[t] = a[t];\nout[u32(tile[3].x)] = a[t];')).toEqual([])
    expect(copies('tile[t] = a[t];\nout[u32(tile[3].x)] += a[t];')).toEqual([])
    expect(copies('tile[t] = a[t];\ntile[t + 1u] += a[t];')).toEqual([])
    expect(copies('tile[t] = a[t];\ntile[t + 1u] += workgroupUniformLoad(&other[0]);')).toEqual([])
    expect(copies('tile[t] += workgroupUniformLoad(&other[0]);\ntile[t + 32u] = a[t];')).toEqual([])
    expect(
      copies(
        'tile[t] = a[t];\nif (n > 3u || workgroupUniformLoad(&flag) > 0u) { out[t] = tile[t]; }',
        'var<workgroup> flag: u32;',
      ),
    ).toEqual([])
    expect(
      copies('tile[t] = a[t];\nswitch n { case 1u: { workgroupBarrier(); } default: {} }\nout[t] = tile[t];'),
    ).toEqual([])
  })

  it('are not found if the thread accesses the variable after the previous barrier', () => {
    expect(
      copies(
        'workgroupBarrier(); let x = tile[t];\ntile[t] = a[t];\nworkgroupBarrier(); out[t] = x + tile[0];',
      ),
    ).toEqual([])
    expect(
      copies('for (var k = 0u; k < n; k++) {\ntile[t] = a[k];\nworkgroupBarrier();\nout[t] += tile[k];\n}'),
    ).toEqual([])
    expect(
      copies(
        'if (n > 3u) {\ntile[t] = a[t]; } else {\ntile[t] = vec4f();\n}\nworkgroupBarrier(); out[t] = tile[0];',
      ),
    ).toEqual([2])
  })

  it('are followed around loops, through break and return', () => {
    const loop = (first: string, last: string) => `for (var k = 0u; k < n; k++) {
      if (k == 2u) { ${first} }
      workgroupBarrier();
      tile[t] = a[k];
      if (k == 3u) { ${last} }
      workgroupBarrier();
    }
    workgroupBarrier();
    out[t] = tile[t];`
    expect(found(loop('', ''))).toEqual({ copies: [4], waits: [3, 8], atEnd: false })
    expect(found(loop('', 'break;'))).toEqual({ copies: [4], waits: [3, 8], atEnd: false })
    expect(found(loop('', 'return;'))).toEqual({ copies: [4], waits: [3, 5, 8], atEnd: false })
    expect(copies(loop('out[t] = tile[t];', ''))).toEqual([4])
  })

  it('are followed around a while, which is a for with only a condition', () => {
    const loop = (head: string) => `var k = 0u;
    ${head} {
      workgroupBarrier();
      tile[t] = a[k];
      k++;
      workgroupBarrier();
    }
    workgroupBarrier();
    out[t] = tile[t];`
    const expected = { copies: [4], waits: [3, 8], atEnd: false }
    expect(found(loop('while (k < n)'))).toEqual(expected)
    expect(found(loop('for (; k < n; )'))).toEqual(expected)
  })

  it.each([
    'loop { break; }',
    'for (var k = 0u; k < n; k++) { if (k == 2u) { continue; } }',
    'switch n { case 3u: { } default: { } }',
    'sync();',
    'tile[t] = a[t];\nout[t] = tile[t];\nworkgroupBarrier();',
  ])('are not found in a kernel with `%s`', (statement) => {
    const sync = 'fn sync() { workgroupBarrier(); }'
    const copy = 'workgroupBarrier();\ntile[t] = a[t];\nworkgroupBarrier();\nout[t] = tile[31u - t];'
    expect(copies(`${copy}\n`, sync)).toEqual([2])
    expect(copies(`${copy}\nworkgroupBarrier();\n${statement}`, sync)).toEqual([])
  })

  it('stay pending across at most seven barriers', () => {
    const barriers = 'workgroupBarrier(); '.repeat(10)
    const module = lower(parseWgsl(source(`tile[t] = a[t]; ${barriers} out[t] = tile[0];`)))
    const { waits, hasGroups } = findAsyncCopies(module, analyse(module))
    expect([...waits.values()]).toEqual([7])
    expect(hasGroups).toBe(true)
  })

  it('are waited for only at returns that they reach', () => {
    expect(
      found(`if (n > 3u) { return; }
        tile[t] = a[t];
        workgroupBarrier();
        out[t] = tile[0];
        if (n > 2u) { return; } else { return; }
        workgroupBarrier();
        return;`),
    ).toEqual({ copies: [2], waits: [3], atEnd: false })
    // Another variable that the loop changes is not taken for its counter.
    expect(
      copies('for (var k = 0u; k < 4u; k++) {\nvar z = n;\ntile[t + k * 32u] = a[k];\nz += 1u;\n}'),
    ).toEqual([3])
  })

  it('are waited for at the end and before returns', () => {
    expect(found('if (n > 1u) {\ntile[t] = a[t];\nif (n > 2u) {\nreturn;\n}\n}\nout[t] = a[t];')).toEqual({
      copies: [2],
      waits: [4],
      atEnd: true,
    })
  })

  it('stay pending across calls that access other memory, and are never in a called function', () => {
    const helpers = `fn fetch(slot: u32, at: u32) { tile[slot] = a[at]; }
      fn look() -> vec4f { return other[1]; }
      fn peek() -> vec4f { return tile[1]; }`
    const copy = 'tile[t] = a[t];\nout[t] = look();\nworkgroupBarrier();'
    expect(copies(`${copy}\nout[t] += peek();`, helpers)).toEqual([1])
    expect(copies('tile[t] = a[t];\nout[t] = peek();\nworkgroupBarrier();', helpers)).toEqual([])
    expect(copies(`${copy}\nfetch(t, t);\nworkgroupBarrier();`, helpers)).toEqual([1])
    expect(copies('tile[t] = a[t];\nfetch(t + 32u, t);\nworkgroupBarrier();', helpers)).toEqual([])
  })

  it('are not found if a let in the index is declared again between them', () => {
    const loop = (index: string) => `for (var k = 0u; k < n; k++) {
      let s = words[k];
      tile[${index} + 1u] = a[k];
      workgroupBarrier();
      tile[${index}] = a[k];
    }`
    expect(copies(loop('s'))).toEqual([])
    expect(copies(loop('s % 8u'))).toEqual([])
    expect(copies(loop('t'))).toEqual([3, 5])
  })

  it('are not found if two iterations of a loop have the same index modulo 2³²', () => {
    expect(copies('for (var k = 0u; k < 2u; k++) {\ntile[t + k * 2147483648u] = a[k];\n}')).toEqual([2])
    expect(copies('for (var k = 0u; k < 3u; k++) {\ntile[t + k * 2147483648u] = a[k];\n}')).toEqual([])
  })

  it('are whole elements of 16 bytes, from read-only storage', () => {
    const more = `
      @group(0) @binding(4) var<storage, read_write> b: array<vec4f>;
      @group(0) @binding(5) var<storage, read> threes: array<vec3f>;
      @group(0) @binding(6) var<storage, read> ints: array<vec4i>; var<workgroup> tile3: array<vec3f, 32>;
      var<workgroup> words4: array<u32, 32>; var<workgroup> counts: array<atomic<u32>, 32>;
      var<workgroup> ints4: array<vec4i, 32>; var<workgroup> one: vec4f;
      struct Word { word: u32 } @group(0) @binding(7) var<storage, read> kept: array<Word>;
      var<workgroup> to: array<Word, 32>;`
    expect(copies('to[t] = kept[t];', more)).toEqual([])
    expect(copies('columns[t & 3u] = a[t];', `${more} var<workgroup> columns: mat4x4f;`)).toEqual([])
    expect(copies('tile[t] = b[t];', more)).toEqual([])
    expect(copies('tile3[t] = threes[t];', more)).toEqual([])
    expect(copies('words4[t] = words[t];', more)).toEqual([])
    expect(copies('atomicStore(&counts[t], words[t]);', more)).toEqual([])
    expect(copies('tile[t] = vec4f(ints[t]);\nints4[t] = ints[t];', more)).toEqual([2])
    expect(copies('tile[t] = a[t] + a[t];', more)).toEqual([])
    expect(copies('tile[t].x = a[t].x;\none = a[0];', more)).toEqual([])
  })
})
