import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emitCuda, lower, parseWgsl } from '@tandem-gpu/wgsl'
import { describe, expect, it } from 'vitest'
import { mayUnrollCounts } from './counted-loops.ts'
import { hasSignedExtremesOfThree } from './extremes.ts'
import { hasJoinedSelections, hasShiftedSigns, hasSplitConstants } from './folded-constants.ts'
import { hasLateLiterals } from './known-values.ts'
import { hasMovableVotes, hasOverflowingSigns, hasWrongParts, mayBeMiscompiled } from './machine-code.ts'
import { hasBytesOfChoices, hasMaskedHalves } from './narrow-integers.ts'
import type { PtxKernel } from './ptx-instructions.ts'
import { hasStaleAddresses } from './stale-addresses.ts'
import { hasStaleLoads } from './stale-loads.ts'
import { hasChangesOfKnownPredicates, hasStalePredicates } from './stale-predicates.ts'
import { type Check, isFoundIn, kernelOf, onlyKernel } from './testing/ptx-kernel.ts'
import { hasTwinPredicates } from './twin-predicates.ts'

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
  return compiledSource(as, source, options, architecture)
}

/** nvcc's PTX of a kernel of the corpus. */
function corpusPtx(name: string, architecture: string, ...options: string[]): string {
  const file = new URL(`../../wgsl/testdata/accepted/${name}.wgsl`, import.meta.url)
  return new TextDecoder().decode(compiledSource('ptx', readFileSync(file, 'utf8'), options, architecture))
}

function corpusKernel(name: string, architecture = 'sm_90', ...options: string[]): PtxKernel {
  return onlyKernel(corpusPtx(name, architecture, ...options))
}

function compiledSource(
  as: 'cubin' | 'ptx',
  source: string,
  options: readonly string[],
  architecture: string,
): Uint8Array {
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
      isFoundIn(onlyKernel(compiled('ptx', statements, options, architecture)), hasOverflowingSigns)
    const opaque = '-DWGSL_OPAQUE_SIGNS'
    for (const options of [[], [opaque]]) {
      const calls = 'out[id.x] = i32(f32(u32(abs(v.x - v.y)))) + abs(v.z) % v.w; out[id.y] = dot(abs(v), v);'
      expect(has(calls, ...options)).toBe(false)
    }
    const conditions = 'var x = v.x; if (x < 0i) { x = -x; } out[id.x] = x + select(-v.y, v.y, v.y > 0i);'
    expect(has(conditions)).toBe(true)
    expect(has(conditions, opaque)).toBe(false)
    expect(has('let sign = v.x >> 31u; out[id.x] = (v.x ^ sign) - sign;', opaque)).toBe(true)
    // Its remainder is a difference of 16 bits.
    expect(has('out[id.x] = i32((u32(v.x) & 0xfffu) % 10u) * 3i;')).toBe(false)
    const counter = 'for (var i = 0u; i < 900u; i++) { if (i % 7u == u32(v.x)) { out[id.x] += v.y; } }'
    expect(has(counter)).toBe(false)
  },
)

it.each([
  [true, 'of what is 0, and of another value', 'mov.u16 %rs1, 0;', '%rs1, %rs9'],
  [true, 'of a variable that may be 0', 'mov.u16 %rs1, 0;\nand.b16 %rs2, %rs1, %rs9;', '%rs2, %rs9'],
  [true, 'of a literal', '', '0, %rs9'],
  [false, 'of what is loaded', 'ld.global.u16 %rs1, [%rd1];', '%rs1, %rs9'],
  [
    false,
    'that is a remainder',
    'mov.u16 %rs1, 5;\nshr.u16 %rs2, %rs1, 3;\nmul.lo.s16 %rs3, %rs2, 8;',
    '%rs1, %rs3',
  ],
])('a difference of 16 bits overflows: %s, %s', (overflows, _, before, operands) => {
  expect(isFoundIn(kernelOf(`${before}\nsub.s16 %rs4, ${operands};`), hasOverflowingSigns)).toBe(overflows)
})

describe('votes with a predicate as their result', () => {
  const kernel = (statements: string) =>
    onlyKernel(`.visible .entry k()\n{\n\tsetp.eq.s32 %p1, %r1, 1;\n\t${statements}\n\tret;\n}`)

  it.each([
    ['a branch', 'vote.sync.any.pred %p2, %p1, -1;\n@%p3 bra $end;\n@%p2 st.global.u32 [%rd1], %r1;\n$end:'],
    ['an exit', 'vote.sync.all.pred %p2, %p1, -1;\n@%p3 exit;\nselp.b32 %r2, %r3, %r4, %p2;'],
  ])('may be moved if they are read behind %s', (_, statements) => {
    expect(hasMovableVotes(kernel(statements))).toBe(true)
  })

  it.each([
    [
      'votes that the next branch reads',
      'vote.sync.any.pred %p2, %p1, -1;\n@%p2 bra $end;\nmov.u32 %r1, 1;\n$end:',
    ],
    ['looks', '{ .reg .pred %p; vote.sync.any.pred %p, %p, -1; @%p exit; }\n{ .reg .pred %p; @%p exit; }'],
    ['ballots', 'vote.sync.ballot.b32 %r2, %p1, -1;\n@%p3 bra $end;\nst.global.u32 [%rd1], %r2;\n$end:'],
  ])('may not be moved: %s', (_, statements) => {
    expect(hasMovableVotes(kernel(statements))).toBe(false)
  })

  it.skipIf(nvcc === undefined).each(['sm_75', 'sm_90', 'sm_100'])(
    'do not come from a kernel of the corpus for %s (needs nvcc)',
    { timeout: 60_000 },
    (architecture) => {
      const { instructions } = corpusKernel('votes-before-branch', architecture)
      const votes = instructions.filter(({ name }) => name === 'vote')
      expect(votes.length).toBeGreaterThan(5)
      expect(votes.flatMap(({ modifiers }) => modifiers)).toEqual(votes.map(() => '.sync.ballot.b32'))
    },
  )
})

describe('stale addresses', () => {
  /** PTX of a kernel with these statements; %r1 is an address in workgroup memory. */
  const kernel = (statements: string) =>
    `.visible .entry k(.param .u64 p)\n{\n\t.reg .b32 %r<9>;\n\tmov.u32 %r1, values;\n\tld.param.u32 %r2, [p];\n\t${statements}\n\tret;\n}`
  const loop = '$loop:\nadd.s32 %r2, %r2, -1;\nsetp.ne.s32 %p1, %r2, 0;\n@%p1 bra $loop;'
  const address = 'shl.b32 %r4, %r3, 2;\nadd.s32 %r5, %r1, %r4;'

  it.each([
    [
      'an operand that a loop changes before the load',
      `add.s32 %r3, %r2, 5;\n${loop}\n${address}\nld.shared.u32 %r6, [%r5];`,
    ],
    ['the same in a store', `add.s32 %r3, %r2, 5;\n${loop}\n${address}\nst.shared.u32 [%r5+4], %r1;`],
    [
      'an address that is complete before the loop',
      `add.s32 %r3, %r2, 5;\n${address}\n${loop}\natom.shared.add.u32 %r6, [%r5], 1;`,
    ],
    [
      'an operand that changes without a loop',
      `add.s32 %r3, %r2, 5;\n@%p1 mov.u32 %r2, 7;\n${address}\nld.shared.u32 %r6, [%r5];`,
    ],
  ])('finds %s', (_, statements) => {
    expect(hasStaleAddresses(onlyKernel(kernel(statements)))).toBe(true)
  })

  it.each([
    [
      'a copy that the loop does not change',
      `ld.param.u32 %r7, [p];\nadd.s32 %r3, %r7, 5;\n${loop}\n${address}\nld.shared.u32 %r6, [%r5];`,
    ],
    [
      'an address that each round computes',
      `$loop:\nadd.s32 %r3, %r2, 5;\n${address}\nld.shared.u32 %r6, [%r5];\nadd.s32 %r2, %r2, -1;\n@%p1 bra $loop;`,
    ],
    ['a loaded index', `ld.global.u32 %r3, [%rd1];\n${loop}\n${address}\nld.shared.u32 %r6, [%r5];`],
    [
      'an index that is extended',
      `add.s32 %r3, %r2, 5;\n${loop}\nmul.wide.u32 %rd1, %r3, 4;\nadd.s64 %rd2, %rd3, %rd1;\nld.shared.u32 %r6, [%rd2];`,
    ],
    ['global memory', `add.s32 %r3, %r2, 5;\n${loop}\n${address}\nld.global.u32 %r6, [%r5];`],
  ])('accepts %s', (_, statements) => {
    expect(hasStaleAddresses(onlyKernel(kernel(statements)))).toBe(false)
  })
})

describe('stale predicates', () => {
  const kernel = (statements: string) =>
    `.visible .entry k(.param .u64 p)\n{\n\t.reg .pred %p<9>;\n\tsetp.eq.s32 %p1, %r1, 1;\n$loop:\n\tsetp.ne.s32 %p2, %r2, 4;\n\t${statements}\n\t@%p8 bra $loop;\n\tret;\n}`
  const change = 'setp.lt.u32 %p1, %r3, %r4;'

  it.each([
    ['a branch', `xor.pred %p3, %p1, %p2;\n${change}\n@!%p3 bra $next;\nst.global.u32 [%rd1], %r1;\n$next:`],
    ['a store', `or.pred %p3, %p2, %p1;\n${change}\n@%p3 st.global.u32 [%rd1], %r1;`],
    ['a selection', `and.pred %p3, %p1, %p2;\n${change}\nselp.b32 %r5, %r6, %r7, %p3;`],
    ['a comparison that combines', `setp.ne.xor.s32 %p3, %r2, 4, %p1;\n${change}\n@%p3 bra $loop;`],
    [
      'what is computed of the result',
      `xor.pred %p3, %p1, %p2;\nxor.pred %p4, %p3, %p2;\n${change}\n@%p4 bra $loop;`,
    ],
    [
      'a selection from literals',
      `selp.u16 %rs1, 1, 0, %p1;\nmul.wide.u16 %r5, %rs1, 2;\n${change}\nadd.s32 %r6, %r5, 3;`,
    ],
    [
      'a selection by a copy',
      `mov.pred %p3, %p1;\nselp.u32 %r5, 2, 0, %p3;\n${change}\nadd.s32 %r6, %r5, %r1;`,
    ],
    [
      'a selection by a copy that may be a literal',
      `@%p2 bra $next;\nmov.pred %p1, 0;\n$next:\nmov.pred %p3, %p1;\nselp.u32 %r5, 2, 0, %p3;\n${change}\nadd.s32 %r6, %r5, %r1;`,
    ],
    ['what it guards', `mov.u32 %r5, 0;\n@%p1 mov.u32 %r5, 2;\n${change}\nadd.s32 %r6, %r5, %r1;`],
    ['a negation', `not.pred %p3, %p1;\n${change}\n@%p3 bra $loop;`],
    [
      'a change in another block',
      `xor.pred %p3, %p1, %p2;\n@%p2 bra $next;\n${change}\n$next:\n@%p3 st.global.u32 [%rd1], %r1;`,
    ],
    [
      'a result that the next round uses',
      `@%p3 bra $next;\n$next:\nxor.pred %p3, %p1, %p2;\nmov.pred %p1, -1;`,
    ],
  ])('finds %s', (_, statements) => {
    expect(hasStalePredicates(onlyKernel(kernel(statements)))).toBe(true)
  })

  it.each([
    ['a use before the change', `xor.pred %p3, %p1, %p2;\nselp.b32 %r5, %r6, %r7, %p3;\n${change}`],
    ['a flag that is only copied', `mov.pred %p3, %p1;\n${change}\n@%p3 bra $loop;`],
    [
      'a selection by a copy of a literal',
      `mov.pred %p1, 0;\nmov.pred %p3, %p1;\nselp.u32 %r5, 2, 0, %p3;\n${change}\nadd.s32 %r6, %r5, %r1;`,
    ],
    [
      'a selection by what is set after the copy',
      `mov.pred %p3, %p1;\nsetp.eq.s32 %p3, %r7, 0;\nselp.u32 %r5, 2, 0, %p3;\n${change}\nadd.s32 %r6, %r5, %r1;`,
    ],
    ['operands that do not change', `xor.pred %p3, %p2, %p4;\n${change}\n@%p3 bra $loop;`],
    ['an operation on its own result', `xor.pred %p1, %p1, %p2;\n@%p1 bra $loop;`],
  ])('accepts %s', (_, statements) => {
    expect(hasStalePredicates(onlyKernel(kernel(statements)))).toBe(false)
  })

  it('are errors that kernels are compiled again for', () => {
    const ptx = kernel(`xor.pred %p3, %p1, %p2;\n${change}\n@%p3 bra $loop;`)
    expect(mayBeMiscompiled({ ptx, cubin: new Uint8Array(0) }, 'sm_90')).toBe(true)
    expect(mayBeMiscompiled({ ptx: kernel(change), cubin: new Uint8Array(0) }, 'sm_90')).toBe(false)
    expect(
      mayBeMiscompiled({ ptx: kernel('mystery.b32 %r3, %r2;'), cubin: new Uint8Array(0) }, 'sm_90'),
    ).toBe(true)
  })
})

describe('known predicates that change', () => {
  const loop = (before: string, round: string) =>
    kernelOf(
      `setp.eq.s32 %p1, %r1, 1;\n${before}\n$loop:\n${round}\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p9, %r2, 9;\n@%p9 bra $loop;\n$end:`,
    )

  it.each([
    ['a negation', '@%p1 bra $end;', 'not.pred %p1, %p1;'],
    ['a selection', '@!%p1 bra $end;', 'selp.b32 %r5, %r6, %r7, %p1;\nsetp.gt.u32 %p1, %r5, 4;'],
    [
      'the value that it has already',
      '@%p1 bra $end;',
      '@%p2 bra $next;\nmov.pred %p1, 0;\n$next:\nmov.pred %p1, -1;',
    ],
    ['a copy in the branch', 'not.pred %p3, %p1;\n@%p3 bra $end;', 'xor.pred %p1, %p1, %p2;'],
    [
      'another condition in the branch',
      'and.pred %p3, %p1, %p2;\n@!%p3 bra $end;',
      'xor.pred %p1, %p1, %p2;',
    ],
  ])('are found behind a branch, with %s', (_, before, round) => {
    expect(hasChangesOfKnownPredicates(loop(before, round))).toBe(true)
  })

  it.each([
    ['with a copy that changes', 'mov.pred %p3, %p1;\n@%p1 bra $end;', 'not.pred %p3, %p3;'],
    ['with a new value before the loop', '@%p1 bra $end;\nsetp.eq.s32 %p1, %r3, 5;', 'not.pred %p1, %p1;'],
    ['without changes in the loop', '@%p1 bra $end;', 'selp.b32 %r5, %r6, %r7, %p1;'],
    ['with the branch in the loop', '', '@%p1 bra $end;\nsetp.gt.u32 %p1, %r5, 4;'],
    ['with another way into the loop', '@%p2 bra $loop;\n@%p1 bra $end;', 'not.pred %p1, %p1;'],
  ])('are none %s', (_, before, round) => {
    expect(hasChangesOfKnownPredicates(loop(before, round))).toBe(false)
  })
})

it.skipIf(nvcc === undefined).each(['sm_75', 'sm_90', 'sm_120'])(
  'nvcc marks all loops of the translator, for %s (needs nvcc)',
  { timeout: 60_000 },
  (architecture) => {
    const kernel = onlyKernel(corpusPtx('loops-to-negations', architecture))
    const starts = [...kernel.loops()].map(({ start }) => start)
    expect(starts.length).toBeGreaterThan(2)
    expect(starts.filter((start) => !kernel.markedLoops.has(start))).toEqual([])
    expect(mayUnrollCounts(kernel)).toBe(false)
  },
)

describe('halves of constants', () => {
  const hidden = 'mov.u32 %r8, -18;\n\tnot.b32 %r9, %r8;\n\t'
  const halves = '\n\t@%p1 bra $end;\n\tmov.b32 {%rs1, %rs2}, %r1;\n$end:'

  it.each([
    ['a literal', `setp.ne.s32 %p1, %r1, 17;${halves}`],
    ['what follows from one', `${hidden}setp.eq.s32 %p1, %r9, %r1;${halves}`],
    ['a literal, with another condition', `setp.ne.or.s32 %p1, %r1, 17, %p2;${halves}`],
    ['a literal, as a copy', `mov.u32 %r2, %r1;\nsetp.ne.s32 %p1, %r2, 17;${halves}`],
    [
      'a literal, as what may be a copy',
      `${hidden}min.u32 %r2, %r1, %r9;\nsetp.ne.s32 %p1, %r2, 17;${halves}`,
    ],
    [
      'a literal, as what may be a copy of the same',
      `max.u32 %r2, %r7, %r9;\nmin.u32 %r1, %r7, %r8;\nsetp.ne.s32 %p1, %r2, 17;${halves}`,
    ],
    ['a literal, in both halves at once', 'setp.ne.s32 %p1, %r1, 17;\nadd.rn.f16x2 %r2, %r1, %r3;'],
    ['a literal, with 64 bits', 'setp.ne.s64 %p1, %rd1, 17;\nmov.b64 {%r1, %r2}, %rd1;'],
  ])('are found where the whole is compared with %s', (_, statements) => {
    expect(isFoundIn(kernelOf(statements), hasSplitConstants)).toBe(true)
  })

  it.each([
    ['a variable', `ld.global.u32 %r9, [%rd1];\nsetp.ne.s32 %p1, %r1, %r9;${halves}`],
    ['a literal for its order', `setp.lt.u32 %p1, %r1, 17;${halves}`],
    ['nothing, but its address is', `setp.ne.s32 %p1, %r7, 17;\nld.shared.u32 %r1, [%r7];${halves}`],
    ['a literal, but only added', `add.s32 %r3, %r1, %r7;\nsetp.ne.s32 %p1, %r7, 17;${halves}`],
    ['a literal, but not split', 'setp.ne.s32 %p1, %r1, 17;\nmov.b32 %r2, {%rs1, %rs2};'],
  ])('are none where the whole is compared with %s', (_, statements) => {
    expect(isFoundIn(kernelOf(statements), hasSplitConstants)).toBe(false)
  })
})

it.skipIf(nvcc === undefined).each(['sm_75', 'sm_90', 'sm_120'])(
  'nvcc writes products of parts of integers, which less optimization leaves out, for %s (needs nvcc)',
  { timeout: 60_000 },
  (architecture) => {
    const has = (...options: string[]) =>
      hasWrongParts(corpusPtx('products-of-signed-parts', architecture, ...options))
    expect(has()).toBe(true)
    for (const level of ['min', 'max']) expect(has(`--Ofast-compile=${level}`)).toBe(false)
  },
)

it.skipIf(nvcc === undefined)(
  'nvcc writes signed bytes beyond the end of an integer with less optimization, for sm_100 (needs nvcc)',
  { timeout: 60_000 },
  () => {
    const has = (...options: string[]) => hasWrongParts(corpusPtx('signed-low-bytes', 'sm_100', ...options))
    expect(has('--Ofast-compile=min')).toBe(true)
    for (const options of [[], ['--Ofast-compile=max']]) expect(has(...options)).toBe(false)
  },
)

it('accepts signed parts of integers that end in them', () => {
  for (const part of ['s32 %r1, %r2, 24, 8', 's64 %rd1, %rd2, 28, 36', 'u32 %r1, %r2, 28, 8'])
    expect(hasWrongParts(`bfe.${part};`)).toBe(false)
  for (const part of [
    's32 %r1, %r2, 28, 8',
    's64 %rd1, %rd2, 60, 8',
    's32 %r1, %r2, %r3, 8',
    's32 %r1, %r2, 8, %r3',
  ])
    expect(hasWrongParts(`bfe.${part};`)).toBe(true)
})

it('accepts signed parts of integers at their end with hardly any optimization', () => {
  expect(hasWrongParts('bfe.s32 %r1, %r2, 31, 8;', true)).toBe(false)
  expect(hasWrongParts('dp4a.s32.s32 %r1, %r2, %r3, %r4;', true)).toBe(true)
})

it('accepts the products of parts of integers that are in the prelude', () => {
  const inline = '\t// begin inline asm\n\tdp4a.s32.s32 %r1, %r2, %r3, 0;\n\t// end inline asm\n'
  expect(hasWrongParts(`${inline}\tmov.u32 %r1, %r2;\n${inline}`)).toBe(false)
  expect(hasWrongParts(`${inline}\tdp2a.lo.s32.s32 %r1, %r2, %r3, %r4;\n${inline}`)).toBe(true)
  expect(hasWrongParts(`${inline}\tdp4a.s32.s32 %r1, %r2, %r3, %r4;\n${inline}`)).toBe(true)
})

describe('loads through the read-only cache', () => {
  const addresses =
    'ld.param.u64 %rd1, [k_param_0];\ncvta.to.global.u64 %rd2, %rd1;\nld.param.u64 %rd3, [k_param_2];\ncvta.to.global.u64 %rd4, %rd3;\nmul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd2, %rd5;\nadd.s64 %rd7, %rd4, %rd5;\n'
  const merged =
    'mov.u64 %rd8, %rd6;\n@%p1 bra $next;\nmov.u64 %rd8, %rd7;\n$next:\nld.global.nc.u32 %r3, [%rd8];\n'

  it.each([
    ['a store', `st.global.u32 [%rd7], %r2;\n${merged}`],
    ['an atomic operation', `atom.global.add.u32 %r4, [%rd4], 1;\n${merged}`],
    ['a store in the last round', `$loop:\n${merged}st.global.u32 [%rd7+4], %r3;\n@%p2 bra $loop;`],
    ['a call with the address', `st.param.b64 [param0+0], %rd7;\ncall.uni f,\n(\nparam0\n);\n${merged}`],
  ])('may be stale behind %s', (_, statements) => {
    expect(hasStaleLoads(kernelOf(addresses + statements))).toBe(true)
  })

  it.each([
    ['to another buffer', 'st.global.u32 [%rd7], %r2;\nld.global.nc.u32 %r3, [%rd6];'],
    ['behind them', `${merged}st.global.u32 [%rd7], %r3;`],
    ['and other loads', `st.global.u32 [%rd7], %r2;\nld.global.u32 %r3, [%rd7];`],
    [
      'at an index that they load',
      'ld.global.u32 %r4, [%rd7];\nst.global.u32 [%rd7], %r2;\nmul.wide.u32 %rd9, %r4, 4;\nadd.s64 %rd9, %rd2, %rd9;\nld.global.nc.u32 %r3, [%rd9];',
    ],
  ])('are right beside stores %s', (_, statements) => {
    expect(hasStaleLoads(kernelOf(addresses + statements))).toBe(false)
  })

  it.skipIf(nvcc === undefined)(
    "are stale in nvcc's PTX of a kernel of the corpus, unless addresses may be aliases (needs nvcc)",
    { timeout: 60_000 },
    () => {
      const name = 'loads-at-ends-of-branches'
      expect(hasStaleLoads(corpusKernel(name))).toBe(true)
      expect(hasStaleLoads(corpusKernel(name, 'sm_90', '-D__restrict__='))).toBe(false)
    },
  )
})

describe.skipIf(nvcc === undefined)(
  "the checks find in nvcc's PTX what these kernels are for (needs nvcc)",
  () => {
    it.each<[name: string, has: Check, architecture?: string]>([
      ['address-before-loop', hasStaleAddresses],
      ['flag-before-change', hasStalePredicates],
      ['selection-before-change', hasStalePredicates],
      ['halves-after-equality', hasSplitConstants],
      ['half-after-equality', hasSplitConstants, 'sm_100'],
      ['joined-selections', hasJoinedSelections],
      ['extremes-of-both-signs', hasLateLiterals],
      ['literals-that-only-ptxas-folds', hasLateLiterals],
      ['literals-that-only-ptxas-folds', hasLateLiterals, 'sm_100'],
      ['shuffled-literals', hasLateLiterals],
      ['shuffled-literals', hasLateLiterals, 'sm_100'],
      ['permutation-before-choice', hasBytesOfChoices, 'sm_100'],
      ['masks-of-converted-halves', hasMaskedHalves],
      ['masks-of-converted-halves', hasMaskedHalves, 'sm_100'],
      ['joined-predicates', hasTwinPredicates, 'sm_100'],
      ['deep-bits', hasLateLiterals],
      ['deep-bits', hasLateLiterals, 'sm_100'],
      ['deep-bits', hasShiftedSigns],
    ])('%s', { timeout: 60_000 }, (name, has, architecture) => {
      expect(isFoundIn(corpusKernel(name, architecture), has)).toBe(true)
    })
  },
)
