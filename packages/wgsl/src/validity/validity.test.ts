import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import type { For, Loop } from '../ir.ts'
import { openDawnOracle } from '../testing/dawn-oracle.ts'
import { randomControlFlow } from '../testing/random-control-flow.ts'
import { testCases } from '../testing/test-cases.ts'
import { parseValidityCases, validitySource } from '../testing/validity-cases.ts'
import { walk } from '../walk.ts'
import { WgslError } from '../wgsl-error.ts'
import { findUniformLoops } from './uniformity.ts'

const cases = parseValidityCases(
  readFileSync(new URL('../../testdata/validity.txt', import.meta.url), 'utf8'),
)
const dawn = await openDawnOracle()

/** The error of this compiler; undefined if it accepts the source. */
function errorOf(source: string): WgslError | undefined {
  try {
    lower(parseWgsl(source), { entryPoint: 'main' })
    return undefined
  } catch (error) {
    if (error instanceof WgslError) return error
    throw error
  }
}

/**
 * Messages with which Dawn deviates from the specification: it reports the lane of a broadcast as not
 * constant if the call is in an operand that a constant short circuit skips, since it does not fold constants
 * there.
 */
const deviations = [/argument of '(quadBroadcast|subgroupBroadcast)' must be a const-expression/]

/** Sources on which Dawn and this compiler disagree, with the messages of both. */
async function disagreements(sources: Iterable<readonly [name: string, source: string]>): Promise<string[]> {
  const different: string[] = []
  for (const [name, source] of sources) {
    const [theirs] = await dawn!(source)
    if (theirs !== undefined && deviations.some((words) => words.test(theirs))) continue
    const ours = errorOf(source)
    if ((theirs === undefined) !== (ours === undefined))
      different.push(`${name}\n  Dawn: ${theirs}\n  ours: ${ours?.message.split('\n')[0]}`)
  }
  return different
}

describe('the rules of uniformity and aliases', () => {
  it('accept and reject kernels as the table requires', () => {
    const wrong = cases.filter(
      ({ text, isValid }) => (errorOf(validitySource(text)) === undefined) !== isValid,
    )
    expect(wrong.map(({ text }) => text)).toEqual([])
  })

  it.skipIf(dawn === undefined)('agree with Dawn about the table (needs npm webgpu)', async () => {
    const sources = cases.map(({ text }): [string, string] => [text, validitySource(text)])
    expect(await disagreements(sources)).toEqual([])
  })
})

/** Values of each kind, as conditions can use them. */
const values = [
  ...['0u', 'ov', 'id.x', 'gi', 'lid.y', 'li', 'wid.z', 'wi', 'num.x', 'sid', 'groups', 'lane', 'size'],
  ...[
    'o[0]',
    'r[0]',
    'r[li]',
    'r[sid]',
    'r[wid.x]',
    'un[1].x',
    'un[lane & 3].y',
    'w[0]',
    'pv',
    'atomicLoad(&wa)',
  ],
  ...['arrayLength(&o)', 'workgroupUniformLoad(&w[1])', 'subgroupAdd(1u)', 'subgroupInclusiveAdd(1u)'],
  ...['subgroupBroadcastFirst(li)', 'quadSwapX(1u)', 'subgroupBallot(true).x', 'u32(subgroupElect())'],
  ...['select(1u, 2u, sid == 0)', 'vec2u(wid.x, num.y).y', 'u32(wid.x == 1 && lane == 0)'],
]

/** Ways in which control flow can depend on a value, before a collective call `C`. */
const ways = [
  'if (V == 0) { C; }',
  'if (V == 0) { return; } C;',
  'switch (V) { case 1: { o[0] = 1; } default: { C; } }',
  'switch (V) { case 1: { return; } default: { } } C;',
  'for (var i = 0u; i < V; i++) { C; }',
  'for (var i = 0u; i < 4; i += V) { C; }',
  'for (var i = 0u; i < 4; i++) { if (i == V) { break; } C; }',
  'for (var i = 0u; i < 4; i++) { if (i == V) { break; } } C;',
  'while (V < 3) { C; }',
  'loop { C; continuing { break if V == 1; } }',
  'loop { if (wid.x == 1) { break; } continuing { if (V == 1) { C; } } }',
  'loop { if (V == 1) { continue; } o[0] = 1; continuing { C; break if wid.x == 3; } }',
  'var x = 1u; if (V == 2) { x = 2; } if (x == 2) { C; }',
  'var x = V; x = x + 1; if (x == 2) { C; }',
  'var a: array<u32, 2>; a[1] = V; if (a[0] == 2) { C; }',
]

describe('every kind of value, in every kind of control flow', () => {
  it.skipIf(dawn === undefined)('gets the same verdict from Dawn (needs npm webgpu)', async () => {
    const sources = values.flatMap((value) =>
      ways.flatMap((way) =>
        ['workgroupBarrier()', 'pv = subgroupAdd(li)'].map((call): [string, string] => {
          const text = way.replace('V', value).replace('C', call)
          return [text, validitySource(text)]
        }),
      ),
    )
    expect(sources.length).toBeGreaterThan(900)
    expect(await disagreements(sources)).toEqual([])
  })
})

/**
 * Seeds of modules on which Dawn's compiler aborts the process ("Switch() passed nullptr" in its uniformity
 * analysis).
 */
const endsDawn = new Set([12221])

describe('random control flow', () => {
  it.skipIf(dawn === undefined)('gets the same verdict from Dawn (needs npm webgpu)', async ({ task }) => {
    const sources = testCases(150, 20_000)
      .filter((seed) => !endsDawn.has(seed))
      .map((seed): [string, string] => [`seed ${seed}`, randomControlFlow(seed)])
    expect(await disagreements(sources)).toEqual([])
    // The comparison is meaningful only if both verdicts are common.
    const accepted = sources.filter(([, source]) => errorOf(source) === undefined).length
    expect(accepted).toBeGreaterThan(sources.length / 10)
    expect(accepted).toBeLessThan(sources.length / 2)
    task.meta.cases = sources.length
  })
})

describe('errors', () => {
  const message = (text: string) => errorOf(validitySource(text))!.text

  it('name the condition and the value that varies, with their lines', () => {
    expect(message('if (id.x == 0) { workgroupBarrier(); }')).toBe(
      "workgroupBarrier must be called in uniform control flow of the workgroup, but the if in line 18 depends on the built-in value global_invocation_id in 'id' (line 12)",
    )
    expect(
      message('let n = atomicAdd(&wa, 1);\nfor (var i = 0u; i < n; i++) {\n  o[0] = subgroupAdd(i);\n}'),
    ).toBe(
      'subgroupAdd must be called in uniform control flow of the subgroup, but the for in line 19 depends on the result of atomicAdd (line 18)',
    )
    expect(message('_ = subgroupShuffleUp(1u, w[li]);')).toBe(
      "argument 2 of subgroupShuffleUp must be uniform in the subgroup, but it depends on the workgroup variable 'w' (line 18)",
    )
  })

  it('point to the call or to the argument', () => {
    const column = (text: string) => errorOf(validitySource(`\n${text}`))!.column
    expect(column('if (id.x == 0) { workgroupBarrier(); }')).toBe(18)
    expect(column('_ = subgroupShuffleUp(1u, w[li]);')).toBe(27)
  })

  it('name the call through which a function is reached', () => {
    expect(message('fn f() { workgroupBarrier(); } ### if (o[0] == 1) { f(); }')).toBe(
      "workgroupBarrier must be called in uniform control flow of the workgroup, but in the call of f in line 18, the if in line 18 depends on the read_write storage variable 'o' (line 18)",
    )
  })

  it('do not name a variable behind a pointer, which may be one of several', () => {
    expect(message('fn f(p: ptr<private, u32>) { if *p == 1 { workgroupBarrier(); } } ### f(&pv);')).toMatch(
      /the if in line 10 depends on private memory behind a pointer \(line 10\)$/,
    )
  })

  it('name the arguments that alias', () => {
    expect(
      message('fn f(p: ptr<function, u32>, q: ptr<function, u32>) { *p = *q; } ### var a: u32; f(&a, &a);'),
    ).toBe("argument 2 of f points to 'a', as argument 1 does, and f writes through argument 1")
    expect(
      message(`fn f(p: ptr<private, u32>, q: ptr<private, u32>) { *p = *q; }
        fn g(p: ptr<private, u32>, q: ptr<private, u32>) { f(q, q); } ### `),
    ).toBe(
      'argument 2 of f points to the memory behind parameter 2, as argument 1 does, and f writes through argument 1',
    )
    expect(message('fn f(p: ptr<private, u32>) { *p = pv; } ### f(&pv);')).toBe(
      "argument 1 of f points to 'pv', which f also accesses by name, and it writes to it",
    )
  })
})

describe('warnings', () => {
  const warnings = (source: string) =>
    lower(parseWgsl(source)).warnings.map((w) => `${w.severity} ${w.line}:${w.column} ${w.text}`)
  const divergent = (filter: string) => `enable subgroups; ${filter}
fn called(i: u32) { if (i == 0) { _ = subgroupElect(); } }
@compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) {
  if (i == 0) { _ = subgroupAdd(1u); }
  called(i);
}`

  it('report violations that a filter turns into warnings, with the severity that it names', () => {
    const elect =
      "2:39 subgroupElect must be called in uniform control flow of the subgroup, but in the call of called in line 5, the if in line 2 depends on the built-in value local_invocation_index in 'i' (line 3)"
    const add =
      "4:21 subgroupAdd must be called in uniform control flow of the subgroup, but the if in line 4 depends on the built-in value local_invocation_index in 'i' (line 3)"
    expect(warnings(divergent('diagnostic(warning, subgroup_uniformity);'))).toEqual([
      `warning ${elect}`,
      `warning ${add}`,
    ])
    expect(warnings(divergent('diagnostic(info, subgroup_uniformity);'))).toEqual([
      `info ${elect}`,
      `info ${add}`,
    ])
    expect(warnings(divergent('diagnostic(off, subgroup_uniformity);'))).toEqual([])
    expect(() => warnings(divergent(''))).toThrow('subgroupElect must be called')
  })

  it('name unknown rules, but not those of other tools', () => {
    expect(
      warnings(`diagnostic(off, mystery); diagnostic(off, tool.mystery); diagnostic(off, derivative_uniformity);
@compute @workgroup_size(1) @diagnostic(error, riddle) fn main() { }`),
    ).toEqual([
      "warning 1:17 the diagnostic rule 'mystery' is unknown",
      "warning 2:48 the diagnostic rule 'riddle' is unknown",
    ])
  })
})

describe('lowering an entry point', () => {
  it('also checks the others, whatever the values of overrides', () => {
    const module = parseWgsl(`override n: u32;
@compute @workgroup_size(1) fn good() {}
@compute @workgroup_size(8) fn bad(@builtin(local_invocation_index) i: u32) { if (i < n) { workgroupBarrier(); } }`)
    expect(() => lower(module, { entryPoint: 'good' })).toThrow(/uniform control flow/)
    expect(() => lower(module, { entryPoint: 'bad', constants: { n: 4 } })).toThrow(/uniform control flow/)
  })
})

it('a message names the built-in value that varies, and its parameter if that has another name', () => {
  const messageOf = (name: string) =>
    errorOf(
      `@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) ${name}: u32) { if (${name} == 0) { workgroupBarrier(); } }`,
    )?.message
  expect(messageOf('i')).toContain("depends on the built-in value local_invocation_index in 'i' (line 1)")
  expect(messageOf('local_invocation_index')).toContain('the built-in value local_invocation_index (line 1)')
})

it('loops are uniform if the invocations of a subgroup begin each iteration together', () => {
  const module = lower(
    parseWgsl(
      validitySource(`loop { if (wid.x == 1) { break; } o[0] = 1; }
      loop { if (li == 1) { break; } o[0] = 1; }
      for (var i = 0u; i < wid.x; i++) { o[0] = 1; }
      for (var i = 0u; i < li; i++) { o[0] = 1; }
      if (lane == 2) { loop { if (wid.x == 1) { break; } o[0] = 1; } }`),
    ),
    { entryPoint: 'main' },
  )
  const loops: (For | Loop)[] = []
  walk(module.entryPoint, {
    statement(s) {
      if (s.kind === 'for' || s.kind === 'loop') loops.push(s)
    },
  })
  const uniform = findUniformLoops(module)
  expect(loops.map((loop) => uniform.has(loop))).toEqual([true, false, true, false, false])
})
