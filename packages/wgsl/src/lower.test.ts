import { describe, expect, it } from 'vitest'
import { lower, parseWgsl, reflect, WgslError } from './index.ts'
import { printIr } from './testing/print-ir.ts'

const main = (body: string, module = '') =>
  `${module}
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) { ${body} }`

function ir(body: string, module = '') {
  return lower(parseWgsl(main(body, module), { label: 'test.wgsl' }))
}

/** The printed body of the entry point, one statement per line. */
function body(source: string, module = ''): string {
  const printed = printIr(ir(source, module))
  const lines = printed.slice(printed.lastIndexOf('@workgroup_size')).trim().split('\n').slice(1, -1)
  return lines.map((line) => line.slice(2).replace(/_\d+\b/g, '')).join('\n')
}

describe('parsing', () => {
  it('rejects arguments that are not a source or a module', () => {
    expect(() => parseWgsl(undefined as never)).toThrow(
      new TypeError('The source of parseWgsl is of type undefined; it must be a string of WGSL.'),
    )
    expect(() => lower({} as never)).toThrow(
      new TypeError('The module of lower must be one that parseWgsl returned.'),
    )
  })

  it('gives operators their precedence', () => {
    expect(body('let b = id.x < id.y * id.z + 1u;')).toBe('let b: bool = (id.x < ((id.y * id.z) + 1u))')
    expect(body('let b = id.x == id.y * id.z - 2u || id.x > 1u;')).toBe(
      'let b: bool = ((id.x == ((id.y * id.z) - 2u)) || (id.x > 1u))',
    )
  })

  it('reads x--y as a subtraction of a negation', () => {
    expect(body('var x = 1; let y = 2; let z = x--y; x--; --x;'.replace(' --x;', ''))).toContain(
      'let z: i32 = (load(x) - -y)\nx -= 1i',
    )
  })

  it('tells template lists from comparisons', () => {
    expect(
      body(
        'let a = id.x; let b = id.y; let c = a < b; let d = a > (b); let e = vec2<u32>(a, b)>vec2<u32>(b, a);',
      ),
    ).toContain('let e: vec2<bool> = (vec2u(a, b) > vec2u(b, a))')
    expect(body('var x: array<vec2<f32>, 4>= array<vec2<f32>, 4>();')).toBe('var x: array<vec2f, 4>')
  })

  it('rejects operators whose mixing needs parentheses', () => {
    for (const e of [
      '1u & 2u | 3u',
      'true && false || true',
      '1u << 2u << 3u',
      '1u < 2u == true',
      '1u + 2u & 3u',
    ]) {
      expect(() => ir(`let x = ${e};`), e).toThrow(WgslError)
    }
  })
})

describe('lowering', () => {
  it('resolves an initial value before its own name', () => {
    expect(body('let a = -1.5; let sign = sign(a); let abs = abs(sign);')).toBe(
      'let a: f32 = -1.5f\nlet sign: f32 = sign(a)\nlet abs: f32 = abs(sign)',
    )
  })

  it('folds bitcasts of constants', () => {
    expect(body('let a = bitcast<u32>(1f) + bitcast<u32>(-1); let b = bitcast<f32>(0x40490fdb);')).toBe(
      'let a: u32 = 1065353215u\nlet b: f32 = 3.1415927410125732f',
    )
  })

  it('specialises overrides into array lengths, workgroup sizes and constants', () => {
    const source = `
      @id(7) override n: u32 = 4; override m = n * 2u; override flag = false;
      var<workgroup> tile: array<array<f32, 5>, m>;
      @compute @workgroup_size(n, m / 2) fn main() { tile[n][0] = select(1.0, 2.0, flag); }`
    const module = parseWgsl(source)
    const small = lower(module)
    expect(small.workgroupSize).toEqual([4, 4, 1])
    expect(reflect(small).workgroupMemoryByteLength).toBe(8 * 5 * 4)
    const large = lower(module, { constants: { 7: 10, flag: true } })
    expect(large.workgroupSize).toEqual([10, 10, 1])
    expect(printIr(large)).toContain('[10u][0i] = 2f')
    expect(reflect(large).overrides).toEqual([
      { name: 'n', id: 7, type: 'u32', default: 4 },
      { name: 'm', id: undefined, type: 'u32', default: 20 },
      { name: 'flag', id: undefined, type: 'bool', default: false },
    ])
    expect(() => lower(module, { constants: { n: 3 } })).toThrow("name or @id 'n'")
    expect(lower(module, { constants: { 7: 10.9 } }).workgroupSize).toEqual([10, 10, 1])
    for (const value of [-0.5, 4294967295.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => lower(module, { constants: { 7: value } })).toThrow("the override 'n'")
  })

  it('needs a value only for overrides that the entry point uses', () => {
    const source = `override n: u32; override m: u32;
      @compute @workgroup_size(1) fn a() { let x = n; }
      @compute @workgroup_size(m) fn b() { }`
    const module = parseWgsl(source)
    expect(() => lower(module, { entryPoint: 'a' })).toThrow("the override 'n' has no default")
    expect(lower(module, { entryPoint: 'b', constants: { m: 3 } }).workgroupSize).toEqual([3, 1, 1])
    expect(() => lower(module)).toThrow("choose one of the entry points 'a', 'b'")
  })

  it('infers the type of an override from one that has no value', () => {
    const source = 'override n: u32; override m = n * 2; @compute @workgroup_size(1) fn main() { }'
    const { overrides } = lower(parseWgsl(source))
    expect(overrides.map((o) => [o.name, o.type.scalar, o.default])).toEqual([
      ['n', 'u32', undefined],
      ['m', 'u32', undefined],
    ])
    expect(lower(parseWgsl(source), { constants: { n: 4 } }).overrides[1]!.value).toBe(8)
  })

  it('ignores textures and render stages that the entry point does not use', () => {
    const compute = '@compute @workgroup_size(1) fn main() { }'
    const texture = '@group(0) @binding(0) var t: texture_2d<f32>;'
    const helper = 'fn size() -> vec2u { return textureDimensions(t); }'
    expect(lower(parseWgsl(`${texture} ${helper} ${compute}`)).variables).toEqual([])
    const stages = '@fragment fn f(@builtin(position) p: vec4f) -> @location(0) vec4f { return dpdx(p); }'
    const module = parseWgsl(`${stages} ${compute}`)
    expect(module.entryPoints.map((e) => e.stage)).toEqual(['fragment', 'compute'])
    expect(lower(module).entryPoint.name).toBe('main')
    const used = '@compute @workgroup_size(1) fn main() { _ = size(); }'
    expect(() => lower(parseWgsl(`${texture} ${helper} ${used}`))).toThrow('not supported')
  })

  it('specialises functions for pointers into module memory and passes indices', () => {
    const module = `
      var<workgroup> w: array<array<u32, 4>, 4>;
      fn put(p: ptr<workgroup, u32>, v: u32) { *p = v; }
      fn row(p: ptr<workgroup, array<u32, 4>>, i: u32) { put(&(*p)[i], i); put(&p[0], 1); }`
    const printed = printIr(ir('row(&w[id.x], id.y);', module)).replace(/_\d+\b/g, '')
    expect(printed).toContain('fn put(p_index: u32, p_index1: u32, v: u32) {\n  w[p_index][p_index1] = v\n}')
    expect(printed).toContain('put(p_index, i, i)')
    expect(printed).toContain('row(id.x, id.y)')
  })

  it('replaces pointer lets, evaluating their indices once', () => {
    expect(body('var a = array(1u, 2u); var i = 0u; let p = &a[i]; i = 1u; *p += 3u;')).toBe(
      'var a: array<u32, 2> = array<u32, 2>(1u, 2u)\nvar i: u32 = 0u\nlet p_index: u32 = load(i)\ni = 1u\na[p_index] += 3u',
    )
  })

  it('keeps named constant arrays as constants', () => {
    const lowered = ir('let x = table[id.x]; let y = table[1];', 'const table = array(1, 2, 3.5);')
    expect(lowered.constants.map((c) => c.name)).toEqual(['table'])
    expect(printIr(lowered)).toContain('f32 = 2f')
  })

  it('makes built-in values of structures single parameters', () => {
    const source = `struct In { @builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u }
      @compute @workgroup_size(64) fn main(in: In, @builtin(num_workgroups) n: vec3u) { let x = in.i + in.w.x + n.x; }`
    const lowered = lower(parseWgsl(source))
    expect(reflect(lowered).builtins).toEqual(['local_invocation_index', 'workgroup_id', 'num_workgroups'])
  })

  it('does not evaluate the side of a constant && or || that is not reached', () => {
    expect(body('let a = false && (1 / 0 == 0); let b = true || id.x == 1u;')).toContain(
      'let a: bool = false',
    )
  })
})

describe('reflection', () => {
  it('distinguishes declared access from the accesses of reachable code', () => {
    const source = `
      struct P { n: u32, @align(16) v: vec3f, m: mat3x3f }
      struct S { count: atomic<u32>, items: array<vec3f> }
      @group(0) @binding(0) var<storage, read_write> a: array<f32>;
      @group(0) @binding(1) var<storage, read_write> b: array<f32>;
      @group(0) @binding(2) var<storage, read_write> s: S;
      @group(1) @binding(0) var<uniform> p: P;
      @group(1) @binding(1) var<storage> unused: array<f32>;
      fn copy(source: ptr<storage, array<f32>, read_write>, to: ptr<storage, array<f32>, read_write>) { (*to)[p.n] = (*source)[0]; }
      @compute @workgroup_size(8) fn main() { copy(&a, &b); atomicAdd(&s.count, arrayLength(&s.items)); }`
    const { bindings, callsWorkgroupBarrier } = reflect(lower(parseWgsl(source)))
    expect(
      bindings.map(({ name, access, reads, writes, minByteLength }) => [
        name,
        access,
        reads,
        writes,
        minByteLength,
      ]),
    ).toEqual([
      ['a', 'read_write', true, false, 4],
      ['b', 'read_write', false, true, 4],
      ['s', 'read_write', true, true, 32],
      ['p', 'read', true, false, 80],
    ])
    expect(callsWorkgroupBarrier).toBe(false)
    expect(bindings[2]!.type).toMatchObject({ kind: 'struct', scalar: 'mixed', atomic: true })
    expect(bindings[3]!.members).toMatchObject([
      { name: 'n', type: 'u32', offset: 0, size: 4, components: 1 },
      { name: 'v', type: 'vec3f', offset: 16, size: 12, components: 3 },
      { name: 'm', type: 'mat3x3f', offset: 32, size: 48, components: 9 },
    ])
    expect(bindings[0]!.type).toMatchObject({ kind: 'array', elementType: 'f32', scalar: 'f32', stride: 4 })
  })

  it('describes the members of a structure once for all bindings of its type', () => {
    const source = `struct S { a: u32, b: f32 }
      @group(0) @binding(0) var<storage> s: S; @group(0) @binding(1) var<uniform> t: S;
      @compute @workgroup_size(1) fn main() { _ = s.a + t.a; }`
    const [s, t] = reflect(lower(parseWgsl(source))).bindings
    expect(s!.members).toHaveLength(2)
    expect(t!.members).toBe(s!.members)
  })
})

describe('errors', () => {
  it('name label, line and column, and show the line', () => {
    try {
      lower(parseWgsl('@compute @workgroup_size(1) fn main() {\n  let x: u32 = 1.5;\n}', { label: 'k.wgsl' }))
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(WgslError)
      expect(error).toMatchObject({
        code: 'compilation',
        label: 'k.wgsl',
        line: 2,
        column: 16,
        sourceLine: '  let x: u32 = 1.5;',
      })
      expect((error as Error).message).toContain(
        "k.wgsl:2:16: the value of 'x' is of type abstract-float, not u32",
      )
    }
  })

  it('reject what the specification forbids and Dawn accepts', () => {
    const main = '@compute @workgroup_size(32) fn main() { }'
    const refused = (source: string) => () => lower(parseWgsl(source))
    expect(refused(`enable subgroup_size_control; ${main}`)).toThrow("needs 'enable subgroups;'")
    expect(refused(`enable subgroup_size_control, subgroups; ${main}`)).not.toThrow()
    // Dawn accepts these if unsafe features are allowed, as in the tests; this compiler does not.
    for (const feature of ['texel_buffers', 'sized_binding_array', 'multisampled_array_textures'])
      expect(refused(`requires ${feature}; ${main}`)).toThrow(`the language feature '${feature}' is unknown`)
  })

  it('are reported for expressions deeper than 512 levels, before the stack overflows', () => {
    expect(() => ir(`out[0] = id.x${' + id.x'.repeat(400)};`)).not.toThrow()
    expect(() => ir(`out[0] = id.x${' + id.x'.repeat(20_000)};`)).toThrow(WgslError)
    expect(() => ir(`out[0] = vec4u()${'.xyzw'.repeat(600)}.x;`)).toThrow('deeper than 512 levels')
  })
})

describe('reflect of buffers', () => {
  it('requires the bytes of their views, and describes them as words', () => {
    const { bindings } = reflect(
      ir(
        'out[0] = *bufferView<u32>(&b, 20) + bufferView<array<vec4u>>(&b, id.x)[1].y;',
        '@group(0) @binding(1) var<storage> b: buffer; @group(0) @binding(2) var<uniform> c: buffer<64>;',
      ),
    )
    expect(bindings[1]).toMatchObject({ name: 'b', minByteLength: 24, reads: true, writes: false })
    const unused = ir('let p = bufferView<mat2x2f>(&b, 8);', '@group(0) @binding(1) var<storage> b: buffer;')
    expect(reflect(unused).bindings[0]!.minByteLength).toBe(24)
    expect(bindings[1]!.type).toMatchObject({ name: 'buffer', kind: 'array', scalar: 'u32', stride: 4 })
  })
})
