import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { emitCuda } from './emit-cuda.ts'
import type { CudaKernel } from './kernel.ts'
import { providedNames } from './prelude/link.ts'
import {
  hasProgram,
  type KernelCase,
  kernelCase,
  loadKernelCases,
  translate,
  translateStoppable,
} from './testing/kernel-cases.ts'

/** The WGSL rules that C++ lacks; each has a pair of files in testdata/cuda. */
const goldens = loadKernelCases('cuda')
/** nvcc needs the host compiler. */
const nvcc = hasProgram('g++') ? ['nvcc', '/usr/local/cuda/bin/nvcc'].find(hasProgram) : undefined

describe('translations to CUDA C++', () => {
  it.each(goldens)('$name', async (golden) => {
    const stem = golden.name.replace(/\.wgsl$/, '')
    await expect(translate(golden, 'clamp').source).toMatchFileSnapshot(`../../testdata/cuda/${stem}.cu`)
    if (stem.startsWith('stoppable')) {
      const options = { bounds: 'clamp', lineDirectives: false, stoppable: true } as const
      const { source } = emitCuda(golden.module, options)
      await expect(source).toMatchFileSnapshot(`../../testdata/cuda/${stem}.stoppable.cu`)
    }
    if (!stem.includes('out-of-bounds')) return
    await expect(translate(golden, 'trap').source).toMatchFileSnapshot(`../../testdata/cuda/${stem}.trap.cu`)
    await expect(translate(golden, 'unchecked').source).toMatchFileSnapshot(
      `../../testdata/cuda/${stem}.unchecked.cu`,
    )
  })
})

it('the emitter records exactly the names of the prelude that the text contains', () => {
  const wrong: string[] = []
  for (const kernelCase of loadKernelCases('cuda', 'accepted', 'generated')) {
    for (const bounds of ['clamp', 'trap'] as const) {
      const { body, preludeNames } = translate(kernelCase, bounds).parts
      const held = new Set(body.match(/[A-Za-z_][A-Za-z0-9_]*/g)!.filter((name) => providedNames.has(name)))
      // In the text, vector forms share the name of the scalar form, sums of f16 products share the name of
      // all sums, and operators have no name.
      const isForm = (name: string) => name.startsWith('vector_') || name === 'multiply_into_f16'
      const recorded = new Set(preludeNames.filter((name) => !isForm(name)))
      const difference = [...held, ...recorded].filter((name) => held.has(name) !== recorded.has(name))
      if (difference.length > 0) wrong.push(`${kernelCase.name} ${bounds}: ${difference.join(', ')}`)
    }
  }
  expect(wrong).toEqual([])
})

/**
 * Complete kernels in one file, each with only the prelude of its own source: in a separate namespace, with
 * its macros undefined at the end. Errors name the case and the line of its kernel's source.
 */
function apart(cases: readonly KernelCase[], kernels: readonly CudaKernel[]): string {
  return kernels
    .map(({ source }, i) => {
      const macros = [...source.matchAll(/^#define (\w+)/gm)].map((m) => `#undef ${m[1]}\n`)
      const renamed = source
        .replace('\nnamespace wgsl {', `\nnamespace wgsl_${i} {`)
        .replace('extern "C" __global__', '__global__')
      return `#line 1 "${cases[i]!.name}"\n${renamed}${macros.join('')}`
    })
    .join('\n')
}

/** Compiles with nvcc; returns its error output. */
function compile(text: string, architecture = 90): string {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-nvcc-'))
  try {
    const file = join(folder, 'kernels.cu')
    writeFileSync(file, text)
    // The test checks only that the text compiles, so ptxas does not optimize.
    const flags = ['-std=c++17', '-cubin', `-arch=sm_${architecture}`, '-Xptxas', '-O0']
    const all = [...flags, file, '-o', join(folder, 'kernels.cubin')]
    execFileSync(nvcc!, all, { stdio: 'pipe', timeout: 300_000 })
    return ''
  } catch (error) {
    return `${error}\n${(error as { stderr?: Buffer }).stderr}`.slice(0, 4000)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe.skipIf(nvcc === undefined)('nvcc (needs the CUDA toolkit and g++)', () => {
  it('compiles the golden translations, and the first of them by itself', { timeout: 600_000 }, () => {
    const kernels = goldens.map((golden) => translate(golden, 'clamp'))
    expect(compile(apart(goldens, kernels))).toBe('')
    expect(compile(kernels[0]!.source), goldens[0]!.name).toBe('')
  })

  it.each([75, 90])(
    'compiles kernels that look at their stop word for sm_%i',
    { timeout: 600_000 },
    (architecture) => {
      const all = loadKernelCases('cuda', 'accepted', 'generated').map(
        (c) => [c, translateStoppable(c, 'clamp')] as const,
      )
      // Older GPUs have no subgroup matrices.
      const looking = all.filter(
        ([, { source, minimumComputeCapability: [least = 0] = [] }]) =>
          source.includes('stop_word') && least * 10 <= architecture,
      )
      const some = looking.filter((_, i) => i % 2 === 0 || process.env.TANDEM_LONG === '1')
      expect(some.length).toBeGreaterThan(20)
      expect(
        compile(
          apart(
            some.map(([c]) => c),
            some.map(([, kernel]) => kernel),
          ),
          architecture,
        ),
      ).toBe('')
    },
  )

  it.each(['clamp', 'trap', 'unchecked'] as const)(
    'compiles the corpus with bounds: %s',
    { timeout: 600_000 },
    (bounds) => {
      const all = loadKernelCases('accepted', 'generated')
      // The long test uses the whole corpus. The other modes differ only in accesses, so a part of the corpus
      // suffices.
      const every = bounds !== 'clamp' ? 8 : process.env.TANDEM_LONG === '1' ? 1 : 4
      const cases = all.filter((_, i) => i % every === 0)
      const kernels = cases.map((c) => translate(c, bounds))
      // One file, because nvcc reads its own headers for each, which takes longer than compiling 20 kernels.
      expect(compile(apart(cases, kernels))).toBe('')
    },
  )

  it('compiles functions whose calls would expand to billions of statements', { timeout: 600_000 }, () => {
    const chain = kernelCase(
      'chain.wgsl',
      `// run: workgroups=1,1,1
// buffer out: u32[64]
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn level0(x: u32) { out[x] += 1u; }
${Array.from({ length: 32 }, (_, k) => `fn level${k + 1}(x: u32) { level${k}(x); level${k}(x + 1u); }`).join('\n')}
@compute @workgroup_size(1) fn main() { level32(3u); }`,
    )
    expect(compile(translate(chain, 'clamp').source)).toBe('')
  })

  it('compiles arrays nested as deeply as WGSL allows, with padded elements', {
    timeout: 600_000,
  }, () => {
    const levels = 253
    const aliases = Array.from(
      { length: levels },
      (_, i) => `alias A${i + 1} = array<${i === 0 ? 'Padded' : `A${i}`}, 1>;`,
    )
    const deep = kernelCase(
      'deep.wgsl',
      `// run: workgroups=1,1,1
// buffer out: u32[4]
struct Padded { v: vec3f }
${aliases.join('\n')}
@group(0) @binding(0) var<storage, read_write> out: A${levels};
var<workgroup> tile: A${levels};
@compute @workgroup_size(1) fn main() {
  var copy = out;
  tile = copy;
  out = tile;
}`,
    )
    expect(compile(translate(deep, 'clamp').source)).toBe('')
  })
})
