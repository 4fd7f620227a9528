import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isGpuError } from '@tandem-gpu/core'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { KernelCache } from './kernel-cache.ts'
import { KernelCompiler, type KernelCompilerOptions } from './kernel-compiler.ts'
import { type NativeAddon, nativeAddon } from './native-addon.ts'
import { type ShippedKernels, shippedPtx } from './shipped-kernels.ts'
import { cubinOf, signedOfThree, unsignedOfThree } from './testing/cubin.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'
import { fakeRuntimesOfTests } from './testing/fake-runtime.ts'
import { testKernelSource } from './testing/test-kernels.ts'

const libraries = fakeLibraries()
const cacheDirectory = join(tmpdir(), `tandem-cache-${randomUUID()}`)
const open = fakeRuntimesOfTests({ cacheDirectory })

/** A compiler with some functions of the addon replaced, and without a cache. */
function compilerWith(
  replaced: Partial<NativeAddon>,
  options: Partial<KernelCompilerOptions> = {},
): KernelCompiler {
  const addon = nativeAddon()
  if (addon instanceof Error) throw addon
  return new KernelCompiler({
    addon: { ...addon, ...replaced },
    nvrtc: libraries.nvrtc,
    driverVersion: 13000,
    fmad: true,
    cache: undefined,
    shippedKernels: undefined,
    ...options,
  })
}

beforeEach(() => configureFake())
afterAll(() => rmSync(cacheDirectory, { recursive: true, force: true }))

/** PTX of a kernel with these statements. */
const ptxOf = (statements: string) => `.visible .entry k()\n{\n\t${statements}\n}`
/** What NVRTC returns. */
const compiledTo = (cubin: Uint8Array<ArrayBuffer>, ptx = 'ret;') => ({ compiled: true, log: '', ptx, cubin })

describe('kernels', () => {
  it('reports a compile error with the WGSL line', async () => {
    const runtime = await open([0])
    const error = await runtime.compile(testKernelSource('broken')).catch((e: unknown) => e)
    expect(isGpuError(error, 'compilation')).toBe(true)
    expect(error).toMatchObject({ line: 5 })
    expect(String(error)).toMatch(/'broken' failed to compile at line 5.*missing/)
  })

  it('leaves no file in the temporary folder in which the fake NVRTC compiles and from which the fake driver loads', async () => {
    const runtime = await open([0, 1])
    await runtime.compile(testKernelSource('add'))
    expect(readdirSync('/tmp').filter((name) => name.startsWith(`tandem-fake-${process.pid}-`))).toEqual([])
  })

  it('compiles a kernel with any name', async () => {
    const compiler = compilerWith({})
    const kernel = { source: 'extern "C" void named() {}', lineMap: [] }
    for (const label of ['-O3', 'a "quoted"\\ name'])
      expect((await compiler.compile(kernel, 'sm_90', label)).byteLength).toBeGreaterThan(0)
  })

  it('loads NVRTC when a command queue opens, before it has a kernel', async () => {
    const addon = nativeAddon()
    if (addon instanceof Error) throw addon
    let asked = 0
    const compiler = compilerWith({
      nvrtcVersion: (nvrtc) => {
        asked++
        return addon.nvrtcVersion(nvrtc)
      },
    })
    const runtime = await open([0], { compiler })
    expect(asked).toBe(0)
    const queue = runtime.openCommandQueue(0, { label: 'test', onMessage: () => {} })
    expect(asked).toBe(1)
    await queue.close()
  })

  it('omits declarations that kernels do not use if NVRTC supports that', async () => {
    const optionsOf = async (version: [number, number]) => {
      let given: readonly string[] = []
      const compiler = compilerWith({
        nvrtcVersion: async () => version,
        nvrtcCompile: async (_, { options }) => {
          given = options
          return compiledTo(new Uint8Array(1))
        },
      })
      await compiler.compile({ source: '', lineMap: [] }, 'sm_90', 'empty')
      return given
    }
    expect(await optionsOf([12, 3])).not.toContain('-minimal')
    for (const version of [
      [12, 4],
      [12, 10],
      [13, 0],
    ] as const)
      expect(await optionsOf([...version])).toContain('-minimal')
    expect(await optionsOf([12, 8])).not.toContain('--no-cache')
    for (const version of [
      [12, 9],
      [13, 0],
    ] as const)
      expect(await optionsOf([...version])).toContain('--no-cache')
  })

  it('leaves out passes that no kernel needs, unless NVRTC refuses the option', async () => {
    const image = new Uint8Array(1)
    const compileWith = async (refuse: () => ReturnType<typeof compiledTo>) => {
      const given: number[] = []
      const compiler = compilerWith({
        nvrtcVersion: async () => [14, 0],
        nvrtcCompile: async (_, { options }) => {
          given.push(options.filter((option) => /^-disable-\w+Pass$/.test(option)).length)
          return options.includes('-Xnvvm') ? refuse() : compiledTo(image)
        },
      })
      const compile = () => compiler.compile({ source: '', lineMap: [] }, 'sm_90', 'refused')
      expect(await Promise.all([compile(), compile()])).toEqual([image, image])
      expect(await compile()).toBe(image)
      return given
    }
    const log = 'libnvvm : error: -Xopt is an unsupported option'
    const accepted = await compileWith(() => compiledTo(image))
    expect(accepted).toEqual([19, 19, 19])
    const refused = [19, 19, 0, 0, 0]
    expect(await compileWith(() => ({ ...compiledTo(image), compiled: false, log }))).toEqual(refused)
    expect(
      await compileWith(() => {
        throw Object.assign(new Error('unrecognized option -Xnvvm found'), { nativeCode: 'driver' })
      }),
    ).toEqual(refused)
  })

  it('does not let ptxas optimize a kernel with calls, also where it only knows a similar GPU', async () => {
    const given: (readonly string[])[] = []
    const compiler = compilerWith({
      nvrtcVersion: async () => [13, 0],
      nvrtcCompile: async (_, { options }) => {
        given.push(options)
        if (!options.includes('--gpu-architecture=sm_999')) return compiledTo(new Uint8Array(1))
        throw Object.assign(new Error('invalid value for --gpu-architecture'), { nativeCode: 'nvrtc' })
      },
    })
    const compile = (ptxasLevel: 0 | 3, architecture: string) =>
      compiler.compile({ source: '', lineMap: [], ptxasLevel }, architecture, 'long')
    await compile(3, 'sm_90')
    await compile(0, 'sm_90')
    expect(given.map((options) => options.filter((o) => /ptxas/.test(o)))).toEqual([
      [],
      ['--ptxas-options=-O0'],
    ])
    await compile(3, 'sm_999')
    expect(given.at(-1)).toContain('--gpu-architecture=compute_80')
    // The driver would optimize PTX.
    const refused = await compile(0, 'sm_999').catch((e: unknown) => e)
    expect(isGpuError(refused, 'unsupported')).toBe(true)
    expect(String(refused)).toMatch(/'long' has functions that are not inlined.*13\.0/)
  })

  it('compiles a kernel again if ptxas may have miscompiled it', async () => {
    let given: string[][] = []
    // The code of the attempts; NVRTC repeats the last.
    const compileTo = async (
      images: readonly Uint8Array<ArrayBuffer>[],
      { architecture = 'sm_90', ptxs = ['ret;'] } = {},
    ) => {
      given = []
      const compiler = compilerWith({
        nvrtcVersion: async () => [13, 0],
        nvrtcCompile: async (_, { options }) => {
          const image = images[Math.min(given.length, images.length - 1)]!
          given.push(options.filter((option) => /macro|ptxas/.test(option)))
          return compiledTo(image, ptxs[Math.min(given.length, ptxs.length) - 1])
        },
      })
      return compiler.compile({ source: '', lineMap: [] }, architecture, 'signed')
    }
    const right = cubinOf(unsignedOfThree)
    const wrong = cubinOf(signedOfThree)
    expect(await compileTo([right])).toBe(right)
    expect(given).toEqual([[]])
    const twice = [[], ['--define-macro=WGSL_OPAQUE_SIGNS']]
    const thrice = [...twice, ['--ptxas-options=-O0']]
    expect(await compileTo([wrong, right])).toBe(right)
    expect(given).toEqual(twice)
    expect(await compileTo([wrong, wrong, right])).toBe(right)
    expect(given).toEqual(thrice)
    expect(await compileTo([wrong, right], { architecture: 'sm_100' })).toBe(right)
    // Older GPUs do not have the instruction.
    expect(await compileTo([wrong], { architecture: 'sm_89' })).toBe(wrong)
    expect(given).toEqual([[]])
    for (const architecture of ['sm_75', 'sm_90'])
      for (const ptx of [ptxOf('abs.s32 %r1, %r2;'), ptxOf('neg.s16 %s1, %s2;'), '']) {
        await compileTo([right], { architecture, ptxs: [ptx, ptxOf('neg.s32 %r1, %r2; abs.f32 %f1, %f2;')] })
        expect(given).toEqual(twice)
        // ptxas is right about them without optimization.
        await compileTo([right], { architecture, ptxs: [ptx] })
        expect(given).toEqual(thrice)
      }
  })

  it('compiles a kernel again if nvcc has written wrong PTX', async () => {
    const image = new Uint8Array(1)
    const product = 'dp2a.lo.s32.s32 %r1, %r2, %r3, %r4;'
    const load = 'ld.param.u64 %rd1, [k_param_0];\nst.global.u32 [%rd1], %r1;\nld.global.nc.u32 %r2, [%rd1];'
    const compileTo = async (
      ptx: (options: string) => string,
      { version = [13, 0], ptxasLevel = 3 }: { version?: [number, number]; ptxasLevel?: 0 | 3 } = {},
    ) => {
      const given: string[] = []
      const compiler = compilerWith({
        nvrtcVersion: async () => version,
        nvrtcCompile: async (_, { options }) => {
          given.push(options.filter((option) => /fast|macro|ptxas/.test(option)).join(' '))
          return compiledTo(image, ptxOf(ptx(given.at(-1)!)))
        },
      })
      const outcome = await compiler
        .compile({ source: '', lineMap: [], ptxasLevel }, 'sm_90', 'bytes')
        .catch((error: unknown) => error)
      return { outcome, given }
    }
    const uncached = '--define-macro=__restrict__='
    const plain = '--ptxas-options=-O0'
    const less = '--Ofast-compile=min'
    const least = '--Ofast-compile=max --ptxas-options=-O0'
    const optimizedProduct = (options: string) => (options.includes('fast') ? 'ret;' : product)
    expect(await compileTo(() => 'ret;')).toEqual({ outcome: image, given: [''] })
    expect(await compileTo((options) => (options === '' ? load : 'ret;'))).toEqual({
      outcome: image,
      given: ['', uncached],
    })
    expect(await compileTo(optimizedProduct)).toEqual({
      outcome: image,
      given: ['', less],
    })
    expect(await compileTo((options) => (options.includes('max') ? 'ret;' : product))).toEqual({
      outcome: image,
      given: ['', less, least],
    })
    const both = (options: string) => (options.includes('fast') ? load : product)
    expect(await compileTo((options) => (options.includes('macro') ? 'ret;' : both(options)))).toEqual({
      outcome: image,
      given: ['', less, `${uncached} ${less}`],
    })
    expect(await compileTo(optimizedProduct, { ptxasLevel: 0 })).toEqual({
      outcome: image,
      given: [plain, `${plain} ${least}`],
    })
    const refused = await compileTo(optimizedProduct, { version: [12, 7] })
    expect(isGpuError(refused.outcome, 'unsupported')).toBe(true)
    expect(String(refused.outcome)).toMatch(/NVRTC 12\.7 compiles kernel 'bytes' wrongly.* 12\.8 /)
  })

  it('gives drivers only PTX that they compile correctly', async () => {
    const compileTo = (ptx: readonly string[]) => {
      const left = [...ptx]
      const compiler = compilerWith({
        nvrtcVersion: async () => [11, 7],
        nvrtcCompile: async (_, { options }) => {
          if (!options.includes('--gpu-architecture=compute_80'))
            throw Object.assign(new Error('invalid value for --gpu-architecture'), { nativeCode: 'nvrtc' })
          const text = left.length > 1 ? left.shift() : left[0]
          return compiledTo(new Uint8Array(0), ptxOf(text!))
        },
      })
      return compiler.compile({ source: '', lineMap: [] }, 'sm_90', 'old')
    }
    expect(new TextDecoder().decode(await compileTo(['max.u32 %r1, %r2, %r3;']))).toMatch('max.u32')
    const selected = await compileTo(['max.s32 %r1, %r2, %r3;', 'selp.b32 %r1, %r2, %r3, %p1;'])
    expect(new TextDecoder().decode(selected)).toMatch('selp')
    for (const ptx of ['min.s32 %r1, %r2, %r3;', 'abs.s32 %r1, %r2;']) {
      const refused = await compileTo([ptx]).catch((e: unknown) => e)
      expect(isGpuError(refused, 'unsupported')).toBe(true)
      expect(String(refused)).toMatch(
        /'old' uses signed integers, conditions.*an NVRTC that knows the GPU; this one is 11\.7/,
      )
    }
  })

  describe('if NVRTC does not finish', () => {
    const image = new Uint8Array(1)
    /** Compiles with an NVRTC that finishes only with the options that `ends` accepts. */
    const compileWith = async (
      ends: (options: readonly string[]) => boolean,
      { version = [13, 0], ptxasLevel = 3 }: { version?: [number, number]; ptxasLevel?: 0 | 3 } = {},
    ) => {
      const given: string[] = []
      const used: number[] = []
      const abandoned: number[] = []
      const compiler = compilerWith(
        {
          nvrtcVersion: async () => version,
          nvrtcCompile: (_, { options }, number) => {
            given.push(options.filter((option) => /fast|ptxas/.test(option)).join(' '))
            used.push(number)
            return ends(options) ? Promise.resolve(compiledTo(image)) : new Promise(() => {})
          },
          abandonCompiler: (number) => abandoned.push(number),
        },
        { mostSeconds: 0.15 },
      )
      const outcome = await compiler
        .compile({ source: '', lineMap: [], ptxasLevel }, 'sm_90', 'endless')
        .catch((error: unknown) => error)
      return { outcome, given, used, abandoned }
    }
    const less = '--Ofast-compile=min'
    const least = '--Ofast-compile=max --ptxas-options=-O0'

    it('compiles with less optimization, and then with hardly any, on other threads', async () => {
      const once = await compileWith((options) => options.includes(less))
      expect(once.outcome).toBe(image)
      expect(once.given).toEqual(['', less])
      expect(once.abandoned).toEqual([once.used[0]])
      expect(once.used[1]! % 4).not.toBe(once.used[0]! % 4)
      const twice = await compileWith((options) => options.includes('--Ofast-compile=max'))
      expect(twice.outcome).toBe(image)
      expect(twice.given).toEqual(['', less, least])
      expect(twice.abandoned).toEqual(twice.used.slice(0, 2))
    })

    it('does not count the time in which other kernels compile', async () => {
      vi.useFakeTimers()
      try {
        const finish: (() => void)[] = []
        const abandoned: number[] = []
        const compiler = compilerWith(
          {
            nvrtcVersion: async () => [13, 0],
            nvrtcCompile: () => new Promise((resolve) => finish.push(() => resolve(compiledTo(image)))),
            abandonCompiler: (thread) => abandoned.push(thread),
          },
          { mostSeconds: 3 },
        )
        const images = Promise.all(
          Array.from({ length: 9 }, (_, i) =>
            compiler.compile({ source: `${i}`, lineMap: [] }, 'sm_90', `${i}`),
          ),
        )
        for (const begun of [4, 8, 9]) {
          await vi.advanceTimersByTimeAsync(800)
          expect(finish).toHaveLength(begun)
          for (const done of finish) done()
        }
        expect(await images).toHaveLength(9)
        expect(abandoned).toEqual([])
      } finally {
        vi.useRealTimers()
      }
    })

    it('does not combine levels of NVRTC and of ptxas that contradict each other', async () => {
      const { outcome, given } = await compileWith((options) => options.includes('--Ofast-compile=max'), {
        ptxasLevel: 0,
      })
      expect(outcome).toBe(image)
      expect(given).toEqual(['--ptxas-options=-O0', `--ptxas-options=-O0 ${least}`])
    })

    it.each([
      [[13, 0], 3],
      [[12, 8], 3],
      [[12, 7], 1],
    ] as const)('gives up with NVRTC %j after %i attempts', async ([major, minor], attempts) => {
      const { outcome, given, abandoned } = await compileWith(() => false, { version: [major, minor] })
      expect(isGpuError(outcome, 'compilation')).toBe(true)
      expect(String(outcome)).toContain(`NVRTC ${major}.${minor} takes too long to compile kernel 'endless'`)
      expect(given).toHaveLength(attempts)
      expect(abandoned).toHaveLength(attempts)
    })
  })

  it('loads a kernel from the disk cache if NVRTC would be slow', async () => {
    const runtime = await open([0])
    runtime.releaseKernel(await runtime.compile(testKernelSource('add')))
    const compiler = compilerWith(
      { nvrtcCompile: () => Promise.reject(new Error('NVRTC is called')) },
      { cache: new KernelCache({ directory: cacheDirectory }) },
    )
    const again = await open([0, 1], { compiler })
    await again.compile(testKernelSource('add'))
  })

  it('says how to get NVRTC when it is missing, unless the kernel is shipped compiled', async () => {
    const addon = nativeAddon()
    if (addon instanceof Error) throw addon
    const options = {
      addon,
      nvrtc: ['/nowhere/libnvrtc.so.13'],
      driverVersion: 13000,
      fmad: true,
      cache: undefined,
    }
    const without = await open([0], {
      compiler: new KernelCompiler({ ...options, shippedKernels: undefined }),
    })
    const error = await without.compile(testKernelSource('add')).catch((e: unknown) => e)
    expect(isGpuError(error, 'unsupported')).toBe(true)
    expect(String(error)).toMatch(/'add' is not shipped in compiled form.*NVRTC.*cannot be loaded.*Install/)
    const shipped = new KernelCompiler({
      ...options,
      shippedKernels: () => '.version 6.0\n.visible .entry add(.param .u64 a) {}',
    })
    const kernel = await (await open([0], { compiler: shipped })).compile(testKernelSource('add'))
    expect(kernel.functionIds).toHaveLength(1)
    const unfused = new KernelCompiler({ ...options, fmad: false, shippedKernels: () => '.version 6.0' })
    const refused = await (await open([0], { compiler: unfused }))
      .compile(testKernelSource('add'))
      .catch((e: unknown) => e)
    expect(String(refused)).toMatch(/'add' is shipped compiled with fused a·b\+c.*NVRTC.*cannot be loaded/)
  })

  it('uses the kernels shipped for asynchronous copies if the GPU has them', () => {
    const both = (key: string) => (key.endsWith('@80') ? 'new' : 'old')
    const oldOnly = (key: string) => (key.endsWith('@80') ? undefined : 'old')
    const of = (kernels: ShippedKernels | undefined, architecture: string) =>
      shippedPtx(kernels, 'source', architecture)
    expect([of(both, 'sm_75'), of(both, 'sm_80'), of(both, 'sm_90')]).toEqual(['old', 'new', 'new'])
    expect([of(oldOnly, 'sm_90'), of(undefined, 'sm_90')]).toEqual(['old', undefined])
  })
})
