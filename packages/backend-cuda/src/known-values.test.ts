import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasLateLiterals, KnownValues } from './known-values.ts'
import { isFoundIn, kernelOf, onlyKernel } from './testing/ptx-kernel.ts'
import { randomPtx } from './testing/random-ptx.ts'

const ptxas = ['ptxas', '/usr/local/cuda/bin/ptxas'].find((program) => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})

const load = 'ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1+4];\nsetp.eq.s32 %p9, %r1, %r2;\n'
/** The least of nine even numbers, in %r49. */
const deepBits = Array.from({ length: 9 }, (_, i) => {
  const [shifted, even, before, least] = [
    `%r${20 + i}`,
    `%r${30 + i}`,
    i === 0 ? '%r1' : `%r${40 + i}`,
    `%r${41 + i}`,
  ]
  return `shr.u32 ${shifted}, %r1, ${i};\nand.b32 ${even}, ${shifted}, 6;\nmin.u32 ${least}, ${i === 0 ? even : before}, ${even};`
}).join('\n')

describe('literals that ptxas may know and nvcc does not', () => {
  it.each([
    ['bits of many operations', `${deepBits}\nand.b32 %r60, %r49, 1;`],
    [
      'the sum of a value and its opposite',
      'neg.s32 %r3, %r1;\nadd.s32 %r4, %r2, %r1;\nsub.s32 %r5, %r4, %r2;\nadd.s32 %r6, %r5, %r3;',
    ],
    [
      'bits and their complement',
      'not.b32 %r3, %r1;\nor.b32 %r4, %r2, %r3;\nand.b32 %r5, %r1, %r2;\nnot.b32 %r6, %r4;\nand.b32 %r7, %r6, %r2;',
    ],
    ['a product and a bit that squares lack', 'mul.lo.s32 %r3, %r1, %r1;\nand.b32 %r4, %r3, 2;'],
    ['a shuffled literal', 'mov.u32 %r3, -2;\nshfl.sync.idx.b32 %r4|%p1, %r3, %r1, 31, -1;'],
    [
      'a shuffle of what a loop shuffles',
      'mov.u32 %r3, 8;\n$L__1:\nshfl.sync.idx.b32 %r4|%p1, %r3, %r1, 31, -1;\nmov.u32 %r3, %r4;\n@%p9 bra $L__1;',
    ],
    [
      'the difference of a uniform value and a shuffled one',
      'ld.param.u32 %r3, [p];\nshfl.sync.idx.b32 %r4|%p1, %r3, %r1, 31, -1;\nsub.s32 %r5, %r4, %r3;',
    ],
    ['a vote for what is always true', 'setp.eq.s32 %p1, %r1, %r1;\nvote.sync.ballot.b32 %r3, %p1, -1;'],
    [
      'a literal from memory of a thread',
      'mov.u32 %r3, 5;\nst.local.u32 [t+4], %r3;\n@%p9 bra $L__1;\nst.local.u32 [t+8], %r1;\n$L__1:\nld.local.u32 %r4, [t+4];',
    ],
    [
      'a literal beside a store to odd elements',
      'mov.u32 %r3, 5;\nst.local.u32 [t+8], %r3;\nshl.b32 %r4, %r1, 3;\ncvt.u64.u32 %rd2, %r4;\nmov.u64 %rd3, t;\nadd.s64 %rd4, %rd3, %rd2;\nst.local.u32 [%rd4+4], %r1;\nld.local.u32 %r5, [t+8];',
    ],
    [
      'a literal from workgroup memory',
      'mov.u32 %r3, 5;\nst.shared.u32 [%r2], %r3;\n@%p9 bra $L__1;\nst.global.u32 [%rd1], %r1;\n$L__1:\nld.shared.u32 %r4, [%r2];',
    ],
    [
      'a branch that is never taken',
      'and.b32 %r3, %r1, 6;\nsetp.eq.s32 %p1, %r3, 9;\n@%p1 bra $L__1;\nst.global.u32 [%rd1], %r1;\n$L__1:',
    ],
    [
      'one literal of two branches',
      'mov.u32 %r3, 5;\n@%p9 bra $L__1;\nmov.u32 %r3, 5;\n$L__1:\nadd.s32 %r4, %r1, %r3;',
    ],
    ['an integer of a literal', 'bfind.shiftamt.u32 %r3, 1;'],
    ['an integer from a float', 'mov.f32 %f1, 0f3F000000;\ncvt.rzi.u32.f32 %r3, %f1;'],
    ['16 bits', 'mov.u16 %rs1, 5;\nneg.s16 %rs2, %rs1;'],
    ['a part of 64 bits', 'mov.u64 %rd3, 5;\nshr.u64 %rd2, %rd3, 1;\ncvt.u32.u64 %r3, %rd2;'],
    [
      'a comparison of floats',
      'mov.f32 %f1, 0f3F000000;\nsqrt.approx.f32 %f2, %f1;\nsetp.lt.f32 %p1, %f2, %f1;',
    ],
    [
      'the bits of a float',
      'mov.f32 %f1, 0f3F000000;\nsqrt.approx.f32 %f2, %f1;\nmov.b32 %r3, %f2;\nand.b32 %r4, %r1, %r3;',
    ],
    ['a half of its bits', 'mov.b16 %rs1, 15360;\nadd.f16 %rs2, %rs1, %rs1;\nprmt.b32 %r3, %r2, %rs2, 1;'],
    [
      'a product by a literal that is too small for some bits',
      'and.b32 %r3, %r1, 7;\nmul.lo.s32 %r4, %r3, 3;\nand.b32 %r5, %r4, 32;',
    ],
    ['low bits of a remainder', 'or.b32 %r3, %r1, 63;\nrem.u32 %r4, %r3, 100;\nand.b32 %r5, %r4, 2;'],
    [
      'an opposite of an opposite',
      'and.b32 %r3, %r1, 63;\nneg.s32 %r4, %r3;\nneg.s32 %r5, %r4;\nand.b32 %r6, %r5, 64;',
    ],
    [
      'a value that needs no more than eight bits',
      'and.b32 %r3, %r1, 12;\ncvt.u16.u32 %rs1, %r3;\ncvt.u32.u8 %r4, %rs1;\nsub.s32 %r5, %r4, %r3;',
    ],
    [
      'a minimum and as many of its bits as it needs',
      'min.u32 %r3, %r1, 5;\nand.b32 %r4, %r3, 7;\nsub.s32 %r5, %r4, %r3;',
    ],
    ['a power of two and what is positive', 'ex2.approx.f32 %f1, %f3;\nsetp.lt.f32 %p1, %f1, 0f00000000;'],
    [
      'a sum of cosines and a number above it',
      'cos.approx.f32 %f1, %f3;\ncos.approx.f32 %f2, %f4;\nadd.f32 %f5, %f1, %f2;\nsetp.gt.f32 %p1, %f5, 0f41100000;',
    ],
    ['a square and a negative number', 'mul.f32 %f1, %f3, %f3;\nsetp.ge.f32 %p1, %f1, 0fBF800000;'],
    [
      'a difference of a literal and an opposite',
      'and.b32 %r3, %r1, 15;\nneg.s32 %r4, %r3;\nsub.s32 %r5, -1457444294, %r4;\nsetp.lt.s32 %p1, %r5, 31;',
    ],
    [
      'two votes',
      'vote.sync.ballot.b32 %r3, %p9, -1;\nvote.sync.ballot.b32 %r4, %p9, -1;\nsub.s32 %r5, %r4, %r3;',
    ],
    [
      'two shuffles',
      'shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1;\nshfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;\nsub.s32 %r5, %r4, %r3;',
    ],
    [
      'a shuffle of the value of one lane',
      'shfl.sync.idx.b32 %r3, %r1, 5, 31, -1;\nshfl.sync.idx.b32 %r4, %r3, %r2, 31, -1;\nsub.s32 %r5, %r4, %r3;',
    ],
    [
      'two loads beside a branch',
      'ld.global.u32 %r3, [%rd2];\n@%p9 bra $L__1;\nst.shared.u32 [%r1], %r2;\n$L__1:\nld.global.u32 %r4, [%rd2];\nsub.s32 %r5, %r4, %r3;',
    ],
    [
      'a value from memory and itself',
      'st.local.u32 [t], %r1;\nld.local.u32 %r3, [t];\nsub.s32 %r4, %r3, %r1;',
    ],
    ['products of four bytes with 0', 'mov.u32 %r3, 0;\ndp4a.u32.u32 %r4, %r1, %r3, 0;'],
  ])('are found: %s', (_, statements) => {
    expect(isFoundIn(kernelOf(`${load}${statements}\n`), hasLateLiterals)).toBe(true)
  })

  it.each([
    ['bits of many operations', `${deepBits}\nand.b32 %r60, %r49, 2;`],
    ['copies of literals', 'mov.u32 %r3, 5;\nmov.u32 %r4, %r3;\nadd.s32 %r5, %r1, %r4;'],
    ['a register with two values', 'mov.u32 %r3, 1;\n@%p9 mov.u32 %r3, 2;\nadd.s32 %r4, %r3, 5;'],
    [
      'a counter',
      'mov.u32 %r3, 0;\n$L__1:\nadd.s32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r1;\n@%p1 bra $L__1;\nst.global.u32 [%rd1], %r3;',
    ],
    [
      'shuffles of what is loaded, or of the lane',
      'mov.u32 %r3, %laneid;\nshfl.sync.idx.b32 %r4|%p1, %r3, %r1, 31, -1;\nshfl.sync.bfly.b32 %r5|%p2, %r1, 1, 31, -1;\nsub.s32 %r6, %r5, %r1;',
    ],
    [
      'an element that may be another',
      'mov.u32 %r3, 5;\nst.local.u32 [t+8], %r3;\nshl.b32 %r4, %r1, 2;\ncvt.u64.u32 %rd2, %r4;\nmov.u64 %rd3, t;\nadd.s64 %rd4, %rd3, %rd2;\nst.local.u32 [%rd4], %r1;\nld.local.u32 %r5, [t+8];',
    ],
    [
      'workgroup memory behind a barrier',
      'mov.u32 %r3, 5;\nst.shared.u32 [%r2], %r3;\nbar.sync 0;\nld.shared.u32 %r4, [%r2];',
    ],
    [
      'memory of a loop that changes it',
      'mov.u32 %r3, 5;\nst.local.u32 [t], %r3;\n$L__1:\nld.local.u32 %r4, [t];\nadd.s32 %r5, %r4, %r1;\nst.local.u32 [t], %r5;\n@%p9 bra $L__1;',
    ],
    [
      'a question whether a float is a number',
      'abs.f32 %f1, %f3;\nsetp.le.f32 %p1, %f1, 0f7F800000;\nsetp.nan.f32 %p2, %f1, %f1;',
    ],
    ['a cosine and a number below its most', 'cos.approx.f32 %f1, %f3;\nsetp.gt.f32 %p1, %f1, 0f3F000000;'],
    [
      'a sum of squares in a loop',
      'mov.f32 %f1, 0f00000000;\n$L__1:\nfma.rn.f32 %f1, %f3, %f3, %f1;\n@%p9 bra $L__1;\nsetp.lt.f32 %p1, %f1, 0f00000000;',
    ],
    [
      'a sum in memory of a loop',
      'mov.f32 %f1, 0f00000000;\nst.local.f32 [t], %f1;\n$L__1:\nld.local.f32 %f2, [t];\nadd.f32 %f3, %f2, 0f3F800000;\nst.local.f32 [t], %f3;\n@%p9 bra $L__1;\nsetp.lt.f32 %p1, %f3, 0f00000000;',
    ],
    [
      'loads of one address in a loop',
      '$L__1:\nld.global.u32 %r3, [%rd2];\nld.global.u32 %r4, [%rd2+4];\nadd.s32 %r5, %r3, %r4;\n@%p9 bra $L__1;',
    ],
    [
      'loads of one address that branches repeat',
      '$L__1:\n@%p9 bra $L__2;\nld.global.u32 %r3, [%rd2];\nbra $L__3;\n$L__2:\nld.global.u32 %r4, [%rd2];\n$L__3:\nsetp.eq.s32 %p2, %r2, %r5;\n@%p2 bra $L__1;',
    ],
    ['a range', 'min.u32 %r3, %r1, 4;\nsetp.gt.u32 %p1, %r3, 36;'],
    [
      'a quotient of a range',
      'min.u32 %r3, %r1, 5;\nmul.wide.u32 %rd2, %r3, -1431655765;\nshr.u64 %rd3, %rd2, 34;\ncvt.u32.u64 %r4, %rd3;',
    ],
    [
      'two loads with a store between them',
      'ld.global.u32 %r3, [%rd2];\nst.global.u32 [%rd1], %r2;\nld.global.u32 %r4, [%rd2];\nsub.s32 %r5, %r4, %r3;',
    ],
    ['an address', 'mov.u32 %r3, tile;\nadd.s32 %r4, %r3, 16;'],
    ['64 bits', 'mov.u32 %r3, 16;\ncvt.u64.u32 %rd2, %r3;'],
    [
      'a float, and its comparison with others',
      'mov.f32 %f1, 0f3F000000;\nsqrt.approx.f32 %f2, %f1;\nadd.f32 %f3, %f2, %f4;\nsetp.lt.f32 %p1, %f3, %f2;',
    ],
    ['a float from an integer', 'mov.u32 %r3, 7;\ncvt.rn.f32.u32 %f1, %r3;\nmul.f32 %f2, %f3, %f1;'],
  ])('are none: %s', (_, statements) => {
    expect(isFoundIn(kernelOf(`${load}${statements}\n`), hasLateLiterals)).toBe(false)
  })
})

describe.skipIf(ptxas === undefined)('whatever ptxas knows of random PTX is known (needs ptxas)', () => {
  it.each(['sm_80', 'sm_90', 'sm_100'])('for %s', { timeout: 120_000 }, (architecture) => {
    const kernels = Number(process.env.TANDEM_RANDOM_PTX ?? 12)
    const folder = mkdtempSync(join(tmpdir(), 'tandem-known-'))
    const unknown: string[] = []
    let known = 0
    try {
      for (let seed = 0; seed < kernels; seed++) {
        const { text, conditions } = randomPtx(seed, architecture, 24, 32)
        writeFileSync(join(folder, 'k.ptx'), text)
        const file = join(folder, 'k.cubin')
        execFileSync(ptxas!, ['-arch', architecture, '-O3', '-o', file, join(folder, 'k.ptx')])
        const cubin = readFileSync(file)
        const kernel = onlyKernel(text)
        const values = new KnownValues(kernel)
        // Registers that are set before such a branch keep all their values here.
        if (kernel.instructions.some((_, at) => values.isExecuted(at) && values.isDecided(at))) continue
        for (const { predicate, markers } of conditions) {
          const isStored = markers.map((marker) => {
            const bytes = Buffer.alloc(4)
            bytes.writeUInt32LE(marker)
            return cubin.includes(bytes)
          })
          if (isStored[0] && isStored[1]) continue
          known++
          if (!values.isFixed(predicate)) unknown.push(`${seed}: ${predicate}`)
        }
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
    expect(unknown).toEqual([])
    expect(known).toBeGreaterThan(kernels)
  })
})
