import { readFile } from 'node:fs/promises'
import { decode } from 'fast-png'
import { describe, expect, it } from 'vitest'
import { numpy, pythonWithNumpy } from './testing/numpy.ts'
import { tandem, tandemJson } from './testing/tandem.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

describe('tandem fft', () => {
  it('says what it did, and draws its plan', async () => {
    const { exit, stdout } = await tandem('fft --shape 4x6x5 --axes 0,-1 --order transposed --devices 3')
    expect(exit).toBe(0)
    expect(stdout).toMatch(
      /transform +forward, 4 × 6 × 5 complex to 6 × 4 × 5 complex, norm backward, order transposed/,
    )
    expect(stdout).toMatch(/axis 2 +stages of 5 through memory/)
    expect(stdout).toMatch(/verified.*all 240 numbers against a transform in f64/)
  })

  it("draws the magnitudes of its result, in addition to the result's file", async () => {
    const folder = await temporaryFolder()
    const files = `--output ${folder}/b.npy --image ${folder}`
    expect((await tandem(`fft --shape 24x10 --devices 2 ${files}/b.png`)).exit).toBe(0)
    const { width, height } = decode(await readFile(`${folder}/b.png`))
    // 43 pixels per magnitude, for 10 × 24 magnitudes, and the colour bar.
    expect([width, height]).toEqual([43 * 10 + 286, 43 * 24 + 48])
    expect((await tandem(`fft --shape 20 --real --devices 2 ${files}/b.svg`)).exit).toBe(0)
    expect((await readFile(`${folder}/b.svg`, 'utf8')).match(/<rect x=/g)).toHaveLength(11)
  })

  it.each([
    ['fft --shape 4xfive', /It must be the lengths of the axes, such as 4096 or 512x512x512/],
    ['fft --axes 0,z', /It must be whole numbers, such as 0,2 or -1/],
    ['fft --shape 4x4 --axes 2', /The axis 2 does not exist/],
    ['fft --shape 4 --order transposed', /The order 'transposed' needs an array of two or three axes/],
    ['fft --shape 4 --input a.npy', /--shape cannot be used with --input/],
    ['fft --odd', /--odd is only for --real --inverse of a file/],
    ['fft --shape 4x4x4 --image a.png', /--image draws results with one or two axes, not with 3/],
    [
      'fft --shape 4x4 --image a.svg',
      /--image draws a result of two axes as \.png, but a\.svg has another ending/,
    ],
    ['fft --norm none', /Allowed choices are backward, ortho, forward/],
  ])('%s is wrong usage', async (line, message) => {
    const { exit, stderr } = await tandem(line)
    expect(exit).toBe(2)
    expect(stderr).toMatch(message)
  })
})

describe.skipIf(pythonWithNumpy === undefined)(
  'NumPy agrees (skipped where Python has no numpy module)',
  () => {
    /**
     * The relative error, in the L2 norm, of the result of `line` for `input`, compared with a NumPy
     * expression of `a`.
     */
    async function compared(folder: string, line: string, expected: string) {
      const report = await tandemJson(`fft --input ${folder}/a.npy --output ${folder}/b.npy ${line.trim()}`)
      expect(report.verified).toBe(true)
      const printed = numpy(
        folder,
        `a = np.load('a.npy'); b = np.load('b.npy'); e = ${expected}
print(b.dtype, b.shape == e.shape, np.linalg.norm((b - e).ravel()) / np.linalg.norm(e.ravel()) < 1e-6)`,
      )
      return printed
    }
    const save = (folder: string, expression: string) =>
      numpy(
        folder,
        `r = np.random.default_rng(4); c = lambda *s: r.normal(size=s) + 1j * r.normal(size=s)\nnp.save('a.npy', ${expression})`,
      )

    it.each([
      ["c(60).astype('c8')", '', 'np.fft.fft(a)'],
      ["c(7, 50).astype('c8')", '--axes 1', 'np.fft.fft(a, axis=1)'],
      ["c(11, 12).astype('c8')", '--inverse', 'np.fft.ifftn(a)'],
      ["c(11, 12).astype('c8')", '--norm ortho --axes -2', "np.fft.fft(a, axis=0, norm='ortho')"],
      ["c(6, 10, 9).astype('c8')", '--order transposed', 'np.fft.fftn(a).transpose(1, 0, 2)'],
      ["c(6, 10).astype('c8')", '--order transposed --norm forward', "np.fft.fftn(a, norm='forward').T"],
      ["r.normal(size=(6, 10, 9)).astype('f4')", '--real', 'np.fft.rfftn(a)'],
      ["r.normal(size=(6, 10)).astype('f4')", '--real --axes 1,0', 'np.fft.rfftn(a, axes=(1, 0))'],
      ["c(6, 5, 6).astype('c8')", '--real --inverse', 'np.fft.irfftn(a)'],
      ["c(6, 5, 6).astype('c8')", '--real --inverse --odd', 'np.fft.irfftn(a, s=(6, 5, 11), axes=(0, 1, 2))'],
      ["c(5, 1).astype('c8')", '--real --inverse --axes 1', 'np.fft.irfft(a, n=1)'],
      ["np.asfortranarray(c(1, 40).astype('c8'))", '', 'np.fft.fftn(a)'],
      ['c(4, 127)', '--cast --axes 1', 'np.fft.fft(a, axis=1)'],
      ['r.normal(size=(9, 16))', '--cast --real', 'np.fft.rfftn(a)'],
    ])('on %s %s', async (array, options, expected) => {
      const folder = await temporaryFolder()
      save(folder, array)
      const type = options.includes('--real --inverse') ? 'float32' : 'complex64'
      expect(await compared(folder, `${options} --devices 3`, expected)).toBe(`${type} True True`)
    })

    it('on files that fft does not accept, and what to do with them', async () => {
      const folder = await temporaryFolder()
      const refused = async (array: string, line: string) => {
        save(folder, array)
        const { exit, stderr } = await tandem(`${line} --input ${folder}/a.npy`)
        expect(exit).toBe(2)
        return stderr
      }
      expect(await refused("c(4, 5).astype('c8').T", 'fft')).toMatch(
        /is in Fortran order, but the command needs C order: save it with np.ascontiguousarray\(a\)/,
      )
      expect(await refused("r.normal(size=3).astype('f4')", 'fft')).toMatch(
        /contains float32, but the command needs complex64: save it with a.astype\('complex64'\)/,
      )
      expect(await refused('c(3)', 'fft')).toMatch(
        /contains complex128, but the command needs complex64.*or pass --cast/,
      )
      expect(await refused("c(3).astype('c8')", 'fft --real')).toMatch(
        /contains complex64, but the command needs float32/,
      )
      expect(await refused("c(3, 3).astype('c8')", 'transpose')).toMatch(
        /contains complex64, but the command needs float32, int32 or uint32/,
      )
    })

    it('on complex numbers in kernels of one’s own', async () => {
      const folder = await temporaryFolder()
      save(folder, "c(3, 4).astype('c8')")
      numpy(
        folder,
        `open('conjugate.wgsl', 'w').write('''
@group(0) @binding(0) var<storage, read> x: array<vec2f>;
@group(0) @binding(1) var<storage, read_write> y: array<vec2f>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) { if (id.x < arrayLength(&x)) { y[id.x] = vec2f(x[id.x].x, -x[id.x].y); } }
''')`,
      )
      const report = await tandemJson(
        `run ${folder}/conjugate.wgsl --buffer x=${folder}/a.npy --buffer y=c64:3x4 --output y=${folder}/b.npy`,
      )
      expect(report.buffers.y).toMatchObject({ type: 'c64', shape: [3, 4] })
      expect(report.workgroups).toEqual([1])
      expect(
        numpy(
          folder,
          `a = np.load('a.npy'); b = np.load('b.npy'); print(b.dtype, np.array_equal(a.conj(), b))`,
        ),
      ).toBe('complex64 True')
    })
  },
)
