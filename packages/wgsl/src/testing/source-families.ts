/** Sources that grow with `n`, each in one way. Most are valid; some exceed a limit of the language. */
export const sourceFamilies: Readonly<Record<string, (n: number) => string>> = {
  'statements in a block': (n) => main(repeat(n, (i) => `out[${i}] = id.x + ${i}u;`)),
  'variables in a scope': (n) => main(repeat(n, (i) => `var v${i} = id.x; v${i} += 1u;`)),
  'lets that use the one before twice': (n) =>
    main(`let x0 = id.x; ${repeat(n, (i) => `let x${i + 1} = x${i} ^ (x${i} << 13u);`)} out[0] = x${n};`),
  'assignments of one variable': (n) =>
    main(`var x = id.x; ${repeat(n, (i) => `x = x * ${i}u + 7u;`)} out[0] = x;`),
  'sums of one variable': (n) => main(`out[0] = id.x${repeat(n, () => ' + id.x')};`),
  'nested parentheses': (n) => main(`out[0] = ${'('.repeat(n)}id.x${')'.repeat(n)};`),
  'unary operators': (n) => main(`out[0] = ${'~'.repeat(n)}id.x;`),
  'double minus signs': (n) => main(repeat(n, () => 'out[0] = u32(i32(id.x)--1--2--3);')),
  'double minus signs in one expression': (n) => main(`out[0] = u32(i32(id.x)${'--1'.repeat(n)});`),
  'nested calls': (n) => main(`out[0] = ${'min(id.x, '.repeat(n)}1u${')'.repeat(n)};`),
  'calls of a chain of functions': (n) =>
    `${repeat(n, (i) => `fn f${i + 1}(x: u32) -> u32 { return f${i}(x) + f${i}(x + 1u); }`)} fn f0(x: u32) -> u32 { return x; } ${main(
      `out[0] = f${n}(id.x);`,
    )}`,
  'calls of a chain of functions that call often': (n) =>
    `${repeat(n, (i) => `fn f${i + 1}(x: u32) -> u32 { return ${list(8, (k) => `f${i}(x + ${k}u)`, ' + ')}; }`)} fn f0(x: u32) -> u32 { return x; } ${main(
      `out[0] = f${n}(id.x);`,
    )}`,
  'calls of a long function': (n) =>
    `fn f(x0: u32) -> u32 { ${repeat(n, (i) => `let x${i + 1} = x${i} + 1u;`)} return x${n}; } ${main(repeat(n, (i) => `out[${i}] = f(id.x);`))}`,
  'sums of different variables': (n) =>
    `${repeat(n, (i) => `var<workgroup> w${i}: u32;`)} ${main(`out[0] = id.x${repeat(n, (i) => ` + w${i}`)};`)}`,
  functions: (n) =>
    `${repeat(n, (i) => `fn f${i}(x: u32) -> u32 { return x + ${i}u; }`)} ${main(repeat(n, (i) => `out[${i}] = f${i}(id.x);`))}`,
  'pointers that are passed on': (n) =>
    `var<workgroup> w: array<u32, 8>; ${repeat(n, (i) => `fn f${i + 1}(p: ptr<workgroup, array<u32, 8>>) -> u32 { return f${i}(p) + 1u; }`)}
    fn f0(p: ptr<workgroup, array<u32, 8>>) -> u32 { return p[1]; } ${main(`out[0] = f${n}(&w);`)}`,
  'functions given different pointers': (n) =>
    `fn f(p: ptr<private, u32>) -> u32 { return *p; } ${repeat(n, (i) => `var<private> v${i}: u32;`)} ${main(
      repeat(n, (i) => `out[${i}] = f(&v${i});`),
    )}`,
  'arguments of a call': (n) =>
    `fn f(${list(n, (i) => `p${i}: u32`)}) -> u32 { return p0; } ${main(`out[0] = f(${list(n, () => 'id.x')});`)}`,
  'elements of an array': (n) =>
    main(`var a = array<u32, ${n}>(${list(n, (i) => `${i}u`)}); out[0] = a[id.x];`),
  'elements of a constant array': (n) =>
    `const a = array(${list(n, (i) => `${i}u`)}); ${main(`out[0] = a[id.x] + ${list(100, (i) => `a[${i % n}]`, ' + ')};`)}`,
  'uses of a constant array': (n) =>
    `const a = array<u32, 64>(${list(64, (i) => `${i}u`)}); ${main(repeat(n, (i) => `out[${i}] = a[id.x];`))}`,
  'other names of a constant array': (n) =>
    `const a = array(${list(n, (i) => `${i}u`)}); ${main(repeat(n, (i) => `{ const b = a; const c = array(b, b); out[${i}] = c[1][id.x]; }`))}`,
  'composites of a constant array': (n) =>
    `const a = array(${list(n, (i) => `${i}`)}); ${main(repeat(n, (i) => `let b${i} = array(a, a); out[${i}] = u32(b${i}[id.y][id.x]);`))}`,
  'conversions of a constant array': (n) =>
    `const a = array(${list(n, (i) => `${i}`)}); ${main(repeat(n, () => `{ const x: array<f32, ${n}> = a; const y: array<u32, ${n}> = a; }`))}`,
  'uses of parts of a constant': (n) =>
    `struct S { a: array<u32, ${n}> } const s = S(array(${list(n, (i) => `${i}u`)})); const t = array(s.a, s.a);
    ${main(repeat(n, (i) => `out[${i}] = s.a[id.x] + t[1][id.x];`))}`,
  'zeros of an array': (n) => main(`let a = array<i32, ${n * 64}>(); out[0] = u32(a[id.x]);`),
  'nested indices that are inside': (n) =>
    `@group(0) @binding(1) var<storage> a: array<u32, 8>;
    ${main(`out[0] = ${'a[('.repeat(n)}id.x${') & 7u]'.repeat(n)};`)}`,
  'structures that hold the one before twice': (n) =>
    `struct S0 { a: u32 } ${repeat(n, (i) => `struct S${i + 1} { a: S${i}, b: S${i} }`)} ${main(`var s: S${n}; out[0] = id.x;`)}`,
  'a binding of structures that hold the one before twice': (n) =>
    `struct S0 { a: u32 } ${repeat(Math.min(n, 27), (i) => `struct S${i + 1} { a: S${i}, b: S${i} }`)}
    @group(0) @binding(1) var<storage> s: S${Math.min(n, 27)}; ${main('_ = &s; out[0] = id.x;')}`,
  'members on the left of an assignment': (n) =>
    `struct S0 { aa: array<u32, 1> } ${repeat(n, (i) => `struct S${i + 1} { aa: array<S${i}, 1> }`)}
    ${main(`var s: S${n}; s${`.aa[id.x${' + id.x'.repeat(8)}]`.repeat(n + 1)} = 1u;`)}`,
  'arrays of arrays': (n) =>
    `var<private> a: ${'array<'.repeat(n)}u32${', 1>'.repeat(n)}; ${main('out[0] = id.x;')}`,
  'members of a structure': (n) =>
    `struct S { ${list(n, (i) => `m${i}: u32`)} } ${main(`var s: S; ${repeat(n, (i) => `s.m${i} = id.x;`)} out[0] = s.m0;`)}`,
  structures: (n) =>
    `${repeat(n, (i) => `struct S${i} { a: u32 }`)} ${main(repeat(n, (i) => `out[${i}] = S${i}(id.x).a;`))}`,
  'aliases of one another': (n) =>
    `alias T0 = u32; ${repeat(n, (i) => `alias T${i + 1} = T${i};`)} ${main(`out[0] = T${n}(id.x);`)}`,
  'constants that hold the one before twice': (n) => {
    const depth = Math.min(n, 27)
    const constants = (c: string) => repeat(depth, (i) => `const ${c}${i + 1} = array(${c}${i}, ${c}${i});`)
    const first = (c: string) => `${c}${depth}${'[0]'.repeat(depth + 1)}`
    return `const c0 = array(1, 2); ${constants('c')} const d0 = array(1f, 2f); ${constants('d')}
    const e: ${'array<'.repeat(depth + 1)}f32${', 2>'.repeat(depth + 1)} = c${depth}; var<private> p = d${depth};
    ${main(`out[0] = u32(e${'[0]'.repeat(depth + 1)} + ${first('d')});`)}`
  },
  'constants that use the one before twice': (n) =>
    `const c0 = 1u; ${repeat(n, (i) => `const c${i + 1} = c${i} ^ (c${i} >> 1u);`)} ${main(`out[0] = c${n};`)}`,
  'constants and types in a circle': (n) =>
    `${repeat(8 * n, (i) => `const c${i} = T${i}()[0]; alias T${i} = array<i32, c${(i + 1) % (8 * n)}>;`)} ${main('out[0] = id.x;')}`,
  'overrides that use the one before': (n) =>
    `override o0 = 1u; ${repeat(n, (i) => `override o${i + 1} = o${i} ^ 5u;`)} ${main(`out[0] = o${n};`)}`,
  'overrides without a value': (n) =>
    `override o0: u32; ${repeat(n, (i) => `override o${i + 1} = o${i} ^ 5u;`)} ${main('out[0] = id.x;')}`,
  'overrides that use the one after': (n) =>
    `${repeat(n, (i) => `override o${n - i} = o${n - i - 1} ^ 5u;`)} override o0 = 1u; ${main(`out[0] = o${n};`)}`,
  'overrides that lack the value of the one before': (n) =>
    `override o0: u32; ${repeat(n, (i) => `override o${i + 1} = o${i} ^ 5u;`)} ${main(`out[0] = o${n};`)}`,
  'overrides that use one whose default has no value': (n) =>
    `override z = 0u; override o0 = 1u / z; ${repeat(n, (i) => `override o${i + 1} = o${i} ^ 5u;`)} ${main(`out[0] = o${n};`)}`,
  bindings: (n) =>
    `${repeat(n, (i) => `@group(1) @binding(${i}) var<storage, read_write> b${i}: array<u32>;`)} ${main(
      repeat(n, (i) => `b${i}[id.x] = ${i}u;`),
    )}`,
  'workgroup variables': (n) =>
    `${repeat(n, (i) => `var<workgroup> w${i}: u32;`)} ${main(repeat(n, (i) => `w${i} = id.x; out[${i}] = w${i};`))}`,
  'workgroup variables that a loop stores': (n) =>
    `${repeat(n, (i) => `var<workgroup> v${i}: u32;`)} ${main(`for (var k = 0u; k < 2u; k++) { ${repeat(n, (i) => `v${i} = k;`)} } workgroupBarrier(); out[id.x] = v0;`)}`,
  'clauses of a switch': (n) =>
    main(`switch id.x { ${repeat(n, (i) => `case ${i}u { out[${i}] = 1u; }`)} default { } }`),
  'selectors of a case': (n) =>
    main(`switch id.x { case ${list(n, (i) => `${i}u`)} { out[0] = 1u; } default { } }`),
  'nested blocks': (n) => main(`${'{ '.repeat(n)}out[0] = id.x;${' }'.repeat(n)}`),
  'nested conditions': (n) => main(`${repeat(n, (i) => `if id.x > ${i}u {`)}out[0] = id.x;${' }'.repeat(n)}`),
  'a chain of else if': (n) =>
    main(`if id.x == 9u { } ${repeat(n, (i) => `else if id.x == ${i}u { out[${i}] = 1u; }`)}`),
  'lets that add up elements': (n) =>
    main(
      `if id.x < 9u { let x0 = id.x; ${repeat(n, (i) => `let e${i} = out[${i}]; let x${i + 1} = x${i} + e${i};`)} out[0] = x${n}; }`,
    ),
  'exits of a loop that changes variables': (n) =>
    main(
      `${repeat(4 * n, (i) => `var v${i} = 0u;`)} loop { ${repeat(4 * n, (i) => `v${i}++;`)} ${repeat(2 * n, () => 'if out[0] == 1u { break; } if out[0] == 2u { continue; }')} } out[0] = v0; workgroupBarrier();`,
    ),
  'continues in a loop': (n) =>
    main(`for (var k = 0u; k < id.x; k++) { ${repeat(n, (i) => `if out[k] == ${i}u { continue; }`)} }`),
  'copies to workgroup memory in a loop': (n) =>
    `var<workgroup> w: array<vec4u, 64>; @group(0) @binding(1) var<storage> source: array<vec4u>;
    ${main(`for (var k = 0u; k < 1024u; k++) { ${repeat(n, (i) => `w[id.x + k * ${n}u + ${i}u] = source[id.x];`)} } workgroupBarrier(); out[id.x] = w[0].x;`)}`,
  'nested loops': (n) =>
    main(
      `var x = 0u; ${repeat(n, (i) => `for (var i${i} = 0u; i${i} < 2u; i${i}++) {`)} x += id.x; ${'}'.repeat(n)} out[0] = x;`,
    ),
  'loops one after another': (n) =>
    main(repeat(n, (i) => `for (var k = 0u; k < id.x; k++) { out[k] += ${i}u; }`)),
  barriers: (n) =>
    `var<workgroup> w: array<u32, 64>; ${main(repeat(n, (i) => `w[id.x] = out[id.x + ${i}u]; workgroupBarrier(); out[id.x] = w[63u - id.x]; workgroupBarrier();`))}`,
  atomics: (n) =>
    `@group(0) @binding(1) var<storage, read_write> a: array<atomic<u32>>; ${main(repeat(n, (i) => `atomicAdd(&a[${i}], id.x);`))}`,
  'short circuits': (n) =>
    main(
      `var b = true; ${repeat(n, (i) => `b = b && id.x > ${i}u || id.y == ${i}u;`.replace('b &&', '(b &&').replace('u ||', 'u) ||'))} out[0] = u32(b);`,
    ),
  'members of members': (n) => main(`out[0] = vec4u()${'.xyzw'.repeat(n)}.x;`),
  comments: (n) => main(repeat(n, (i) => `/* a /* nested ${i} */ comment */ out[0] = id.x; // and a line\n`)),
  'nested comments': (n) => main(`${'/*'.repeat(n)}${'*/'.repeat(n)} out[0] = id.x;`),
  'a long name': (n) => main(`let ${'name'.repeat(n)} = id.x; out[0] = ${'name'.repeat(n)};`),
  'a long line with an error': (n) => main(`${repeat(n, () => 'out[0] = id.x;')} out[0] = 1.5;`),
  'many lines with an error': (n) => main(`${repeat(n, () => 'out[0] = id.x;\n')} out[0] = 1.5;`),
  'less-than signs after names': (n) => main(`out[0] = u32(id.x ${'< id.x '.repeat(n)});`),
  'greater-than signs': (n) => main(`out[0] = u32(id.x ${'>'.repeat(n)} id.x);`),
  assertions: (n) =>
    `${repeat(n, (i) => `const_assert ${i} < ${i + 1};`)} ${main(repeat(n, (i) => `const_assert ${i} < ${i + 1};`))}`,
  'warnings with long causes': (n) =>
    `enable subgroups; diagnostic(warning, subgroup_uniformity); ${main(
      `var x = id.x; ${repeat(16 * n, () => 'x += 1u;')} ${repeat(n, () => 'if x == 9u { _ = subgroupAdd(1u); }')}`,
    )}`,
  diagnostics: (n) => `${repeat(n, () => 'diagnostic(off, subgroup_uniformity);')} ${main('out[0] = id.x;')}`,
  extensions: (n) => `${repeat(n, () => 'enable f16;')} ${main('out[0] = id.x;')}`,
  'entry points': (n) =>
    `${out} ${repeat(Math.ceil(n / 20), (i) => `@compute @workgroup_size(1) fn main${i}() { out[${i}] = 1u; }`)}`,
  'unused functions': (n) =>
    `${repeat(n, (i) => `fn f${i}(x: u32) -> u32 { return x + ${i}u; }`)} ${main('out[0] = id.x;')}`,
  'functions that pass a pointer on and are called': (n) =>
    `var<private> v: u32; fn f0(p: ptr<private, u32>) { *p = 1u; }
    ${repeat(n, (i) => `fn f${i + 1}(p: ptr<private, u32>) { f${i}(p); }`)} ${main(repeat(n, (i) => `f${i}(&v);`))}`,
  'aliases of a texture': (n) =>
    `alias A0 = texture_2d<f32>; ${repeat(n, (i) => `alias A${i + 1} = A${i};`)} ${main('out[0] = id.x;')}`,
  'functions that call one with many textures': (n) =>
    `fn f(${list(Math.min(n, 255), (i) => `t${i}: texture_2d<f32>`)}) { }
    ${repeat(n, (i) => `fn g${i}() { f(); }`)} ${main('out[0] = id.x;')}`,
  'digits of a number': (n) => main(`out[0] = ${'9'.repeat(n)};`),
  'digits of an exponent': (n) => main(`out[0] = u32(0x1p${'9'.repeat(n)});`),
}

const out = '@group(0) @binding(0) var<storage, read_write> out: array<u32>;'

function main(body: string): string {
  return `${out} @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { ${body} }`
}

function list(n: number, part: (i: number) => string, separator = ', '): string {
  return Array.from({ length: n }, (_, i) => part(i)).join(separator)
}

function repeat(n: number, part: (i: number) => string): string {
  return list(n, part, ' ')
}
