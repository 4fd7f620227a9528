// Scans, histograms, sorts and transforms of shapes around the sizes of workgroups, tiles and slices, checked
// with NumPy.
import { readFileSync, writeFileSync } from 'node:fs'
import { fft, histogram, scan, sort } from '@tandem-gpu/algorithms'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { type DeviceGroup, openGroup } from '@tandem-gpu/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { numpy, pythonWithNumpy } from './testing/numpy.ts'
import { sharedWebGpu } from './testing/shared-webgpu.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

/** Numbers of elements: zero, one, fewer than devices, and around a tile of 4,096. */
const counts = [0, 1, 2, 4095, 4096, 4097, 8193]
/** Contents: NumPy expressions for `n` elements. */
const contents = {
  random: "r.standard_normal(n).astype('f4')",
  'all equal': "np.full(n, -3.5, 'f4')",
  special: "r.choice(np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-45, -1e-45, 1], 'f4'), n)",
} as const

describe.skipIf(pythonWithNumpy === undefined)(
  'NumPy agrees on shapes at the ends (skipped where Python has no numpy module)',
  () => {
    let group: DeviceGroup
    beforeAll(async () => {
      group = await openGroup({ backends: [sharedWebGpu(webgpu())], devices: 3, virtual: true })
    })
    afterAll(async () => {
      expect(await group.destroy()).toEqual({ leaks: [] })
    })

    /**
     * Runs `work` for each count and content, each with a path for its results, and returns the output of
     * `judge` for each.
     */
    async function judged(
      names: readonly (keyof typeof contents)[],
      work: (input: Float32Array<ArrayBuffer>, path: string) => Promise<void>,
      judge: string,
    ): Promise<string[]> {
      const folder = await temporaryFolder()
      const cases = names.flatMap((name) =>
        counts.map((count) => ({ name, count, path: `${name} ${count}` })),
      )
      const make = cases.map(({ name, count, path }) => `n = ${count}; (${contents[name]}).tofile('${path}')`)
      numpy(folder, `r = np.random.default_rng(8)\n${make.join('\n')}`)
      for (const { path } of cases) {
        const { buffer, byteOffset, byteLength } = readFileSync(`${folder}/${path}`)
        const input = new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer)
        await work(input, `${folder}/${path}`)
      }
      const paths = cases.map(({ path }) => `'${path}'`).join(', ')
      const lines = numpy(
        folder,
        `def judge(x, result):\n${judge.replace(/^/gm, '    ')}
for p in [${paths}]: print(p, bool(judge(np.fromfile(p, 'f4'), lambda end, type: np.fromfile(p + end, type))))`,
      ).split('\n')
      expect(lines).toHaveLength(cases.length)
      return lines.filter((line) => !line.endsWith(' True'))
    }

    it('of running sums', async () => {
      const wrong = await judged(
        ['random', 'all equal'],
        async (input, path) => {
          const output = new Float32Array(input.length)
          await scan(group, { elements: input.length, type: 'f32', input, output })
          writeFileSync(`${path}.sums`, output)
        },
        `s, a = np.cumsum(x.astype('f8')), np.cumsum(np.abs(x.astype('f8')))
return (np.abs(result('.sums', 'f4') - s) <= 26 * 2.0**-24 * 1.00001 * a).all()`,
      )
      expect(wrong).toEqual([])
    })

    it('of counts of bins', async () => {
      const wrong = await judged(
        ['random', 'all equal', 'special'],
        async (input, path) => {
          const output = new Uint32Array(17)
          const range = { bins: 17, low: -4, high: 4 }
          await histogram(group, { elements: input.length, type: 'f32', input, output, ...range })
          writeFileSync(`${path}.counts`, output)
        },
        "with np.errstate(invalid='ignore'): return (result('.counts', 'u4') == np.histogram(x, 17, (-4, 4))[0]).all()",
      )
      expect(wrong).toEqual([])
    })

    it('of sorted elements and their places', async () => {
      const wrong = await judged(
        ['random', 'all equal', 'special'],
        async (input, path) => {
          const [output, indices] = [new Float32Array(input.length), new Uint32Array(input.length)]
          await sort(group, { elements: input.length, type: 'f32', input, output, indices })
          writeFileSync(`${path}.sorted`, output)
          writeFileSync(`${path}.places`, indices)
        },
        `def keys(y):
    b = y.view('u4'); k = np.where(b >= 2**31, ~b, b | np.uint32(2**31))
    return np.where(np.isnan(y), np.uint32(2**32 - 1), k)
o = np.argsort(keys(x), kind='stable')
return (result('.places', 'u4') == o).all() and (keys(result('.sorted', 'f4')) == keys(x)[o]).all()`,
      )
      expect(wrong).toEqual([])
    })

    it('of transforms of every length up to 128, and of primes and products beyond, over uneven slabs', async () => {
      const folder = await temporaryFolder()
      const lengths = [...Array.from({ length: 128 }, (_, i) => i + 1), 251, 509, 625, 1021, 1024, 2187]
      numpy(
        folder,
        `r = np.random.default_rng(9)
for n in ${JSON.stringify(lengths)}: r.standard_normal((4, n, 2)).astype('f4').tofile(f'{n}')`,
      )
      for (const length of lengths) {
        const { buffer, byteOffset, byteLength } = readFileSync(`${folder}/${length}`)
        const input = new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer)
        const output = new Float32Array(input.length)
        await fft(group, { shape: [4, length], axes: [1], input, output })
        writeFileSync(`${folder}/${length}.spectra`, output)
      }
      expect(
        numpy(
          folder,
          `load = lambda p: np.fromfile(p, 'c8').reshape(4, -1)
for n in ${JSON.stringify(lengths)}:
    e = np.fft.fft(load(f'{n}').astype('c16'), axis=1)
    if not np.linalg.norm(load(f'{n}.spectra') - e) <= 1e-6 * np.linalg.norm(e): print(n)`,
        ),
      ).toBe('')
    })
  },
)
