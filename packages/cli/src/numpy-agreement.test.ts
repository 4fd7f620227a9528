import { describe, expect, it } from 'vitest'
import { numpy, pythonWithNumpy } from './testing/numpy.ts'
import { tandemJson } from './testing/tandem.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

describe.skipIf(pythonWithNumpy === undefined)(
  'NumPy agrees (skipped where Python has no numpy module)',
  () => {
    it.each(['C', 'F'])('on transposes of every type, order %s', async (order) => {
      const folder = await temporaryFolder()
      numpy(
        folder,
        `for t in ['f4', 'i4', 'u4']: np.save(f'{t}.npy', np.array(np.random.default_rng(1).integers(0, 2**31, (37, 51)), order='${order}').astype(t))`,
      )
      for (const type of ['f4', 'i4', 'u4']) {
        await tandemJson(
          `transpose --input ${folder}/${type}.npy --output ${folder}/${type}T.npy --devices 3`,
        )
      }
      expect(
        numpy(
          folder,
          `print(all(np.array_equal(np.load(f'{t}T.npy'), np.load(f'{t}.npy').T) and np.load(f'{t}T.npy').dtype == t for t in ['f4', 'i4', 'u4']))`,
        ),
      ).toBe('True')
    })

    it('on sums, minima and maxima, including those of 64-bit files', async () => {
      const folder = await temporaryFolder()
      numpy(
        folder,
        `np.save('a.npy', np.random.default_rng(2).integers(-1000, 1000, (3, 7, 1001))); np.save('f.npy', np.load('a.npy') / 8)`,
      )
      const operations = ['sum', 'min', 'max']
      const expected = numpy(
        folder,
        `for o in ${JSON.stringify(operations)}: print(getattr(np.load('a.npy'), o)(), getattr(np.load('f.npy'), o)())`,
      ).split('\n')
      for (const [i, operation] of operations.entries()) {
        const [ofInts, ofFloats] = expected[i]!.split(' ')
        const ints = await tandemJson(
          `reduce --input ${folder}/a.npy --cast --operation ${operation} --devices 2`,
        )
        expect(String(ints.value)).toBe(ofInts)
        const floats = await tandemJson(
          `reduce --input ${folder}/f.npy --cast --operation ${operation} --devices 2`,
        )
        // In f32, sums of eighths are exact up to 2^21.
        expect(floats.value).toBe(Number(ofFloats))
      }
    })

    it('on running sums, minima and maxima', async () => {
      const folder = await temporaryFolder()
      numpy(
        folder,
        `r = np.random.default_rng(5)
np.save('f.npy', r.standard_normal(100_003).astype('f4')); np.save('i.npy', r.integers(-2**31, 2**31, 100_003).astype('i4')); np.save('u.npy', r.integers(0, 2**32, 9000).astype('u4'))`,
      )
      for (const name of ['f', 'i', 'u'])
        for (const operation of ['sum', 'min', 'max'])
          for (const form of name === 'f' && operation !== 'sum' ? [''] : ['', ' --exclusive'])
            await tandemJson(
              `scan --input ${folder}/${name}.npy --operation ${operation}${form} --devices 3 --output ${folder}/${name}-${operation}${form.length}.npy`,
            )
      expect(
        numpy(
          folder,
          `f, i, u = [np.load(n + '.npy') for n in 'fiu']
s, a = np.cumsum(f.astype('f8')), np.cumsum(np.abs(f).astype('f8'))
print(bool((np.abs(np.load('f-sum0.npy') - s) <= 26 * 2.0**-24 * 1.00001 * a).all()), bool((np.abs(np.load('f-sum12.npy')[1:] - s[:-1]) <= 26 * 2.0**-24 * 1.00001 * a[:-1]).all()), np.load('f-sum12.npy')[0] == 0)
print(*[bool((np.load(n + '-sum0.npy') == np.cumsum(x, dtype=x.dtype)).all()) for n, x in [('i', i), ('u', u)]])
print(*[bool((np.load(n + '-sum12.npy')[1:] == np.cumsum(x, dtype=x.dtype)[:-1]).all()) for n, x in [('i', i), ('u', u)]])
print(*[bool((np.load(f'{n}-{o}0.npy') == getattr(np, o + 'imum').accumulate(x)).all()) for n, x in [('f', f), ('i', i), ('u', u)] for o in ['min', 'max']])
print(*[bool((np.load(f'{n}-{o}12.npy')[1:] == getattr(np, o + 'imum').accumulate(x)[:-1]).all()) for n, x in [('i', i), ('u', u)] for o in ['min', 'max']])`,
        ),
      ).toBe(
        [
          'True True True',
          'True True',
          'True True',
          Array(6).fill('True').join(' '),
          'True True True True',
        ].join('\n'),
      )
    })

    it('on histograms, of even and of given edges', async () => {
      const folder = await temporaryFolder()
      numpy(
        folder,
        `r = np.random.default_rng(6)
x = r.standard_normal(100_003).astype('f4'); x[:5] = [np.nan, np.inf, -np.inf, 0.0, -0.0]; np.save('f.npy', x)
np.save('i.npy', r.integers(-1000, 1000, (50, 401)).astype('i4')); np.save('edges.npy', np.array([-2, -1, -0.5, 0, 0, 0.25, 3], 'f4'))`,
      )
      const lines = [
        ['f', '--bins 256 --range -1,1', '256, (-1, 1)'],
        ['f', '--bins 37 --range -0.3,7.7', '37, (-0.3, 7.7)'],
        ['f', `--edges ${folder}/edges.npy`, 'np.load("edges.npy")'],
        ['i', '--bins 256 --range 0,256', '256, (0, 256)'],
        ['i', '--bins 100', '100'],
        ['i', '--samples 1', ''],
      ] as const
      for (const [k, [name, options]] of lines.entries()) {
        const line = `histogram --input ${folder}/${name}.npy ${options} --devices 3 --output ${folder}/c${k}.npy`
        const report = await tandemJson(`${line} --image ${folder}/c${k}.svg`)
        expect(report.notANumber).toBe(name === 'f' ? 1 : 0)
      }
      const calls = lines.map(([name, , args]) => `np.histogram(np.load('${name}.npy'), ${args})[0]`)
      expect(
        numpy(
          folder,
          `with np.errstate(invalid='ignore'): print(*[bool((np.load(f'c{k}.npy') == h).all()) for k, h in enumerate([${calls.join(', ')}])])`,
        ),
      ).toBe(Array(lines.length).fill('True').join(' '))
    })

    it('on sorted elements, values and indices, by encoded keys', async () => {
      const folder = await temporaryFolder()
      numpy(
        folder,
        `r = np.random.default_rng(7)
x = r.standard_normal(30_011).astype('f4'); x[::5] = r.choice(np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-45, 1], 'f4'), len(x[::5])); np.save('f.npy', x)
np.save('i.npy', r.integers(-50, 50, 30_011).astype('i4')); np.save('u.npy', r.integers(0, 2**32, 30_011).astype('u4'))`,
      )
      for (const name of ['f', 'i', 'u'])
        for (const order of ['', ' --descending']) {
          const [input, mark] = [`--input ${folder}/${name}.npy${order}`, `${folder}/${name}${order.length}`]
          await tandemJson(`sort ${input} --output ${mark}-s.npy --indices ${mark}-i.npy --devices 1`)
          await tandemJson(`sort ${input} --values ${folder}/f.npy --values-output ${mark}-v.npy --devices 1`)
        }
      expect(
        numpy(
          folder,
          `def keys(x):
    b = x.view('u4')
    if x.dtype == 'i4': return b ^ np.uint32(2**31)
    if x.dtype == 'u4': return b
    k = np.where(b >= 2**31, ~b, b | np.uint32(2**31))
    return np.where(np.isnan(x), np.uint32(2**32 - 1), k)
for n in 'fiu':
    for d in [0, 13]:
        x = np.load(n + '.npy'); k = keys(x); o = np.argsort(~k if d else k, kind='stable')
        s = np.load(f'{n}{d}-s.npy')
        print(bool((np.load(f'{n}{d}-i.npy') == o).all()), bool((keys(s) == k[o]).all()), bool((s.view('u4')[np.isnan(s)] == 0x7fc00000).all()), bool((np.load(f'{n}{d}-v.npy').view('u4') == np.load('f.npy').view('u4')[o]).all()))`,
        ),
      ).toBe(Array(6).fill('True True True True').join('\n'))
    })

    it('on products, of either order', async () => {
      const folder = await temporaryFolder()
      numpy(
        folder,
        `r = np.random.default_rng(3)
np.save('a.npy', r.standard_normal((70, 45)).astype('f4')); np.save('b.npy', np.asfortranarray(r.standard_normal((45, 33)).astype('f4')))`,
      )
      const files = `--a ${folder}/a.npy --b ${folder}/b.npy`
      await tandemJson(`matmul ${files} --output ${folder}/c.npy --devices 2`)
      await tandemJson(
        `matmul ${files} --output ${folder}/s.npy --devices 2 --stream-width 8 --memory-limit 20000`,
      )
      expect(
        numpy(
          folder,
          `c = np.load('a.npy').astype('f8') @ np.load('b.npy').astype('f8')
print(np.load('c.npy').shape, *[bool(np.abs(np.load(f) - c).max() < 1e-4) for f in ['c.npy', 's.npy']])`,
        ),
      ).toBe('(70, 33) True True')
    })

    it('on products of f16, whose bits are those of the rounded sums on any number of devices', async () => {
      const folder = await temporaryFolder()
      numpy(
        folder,
        `r = np.random.default_rng(4)
np.save('a.npy', r.integers(-8, 9, (70, 45)).astype('f2')); np.save('b.npy', np.asfortranarray(r.integers(-8, 9, (45, 33)).astype('f2')))`,
      )
      const files = `--a ${folder}/a.npy --b ${folder}/b.npy`
      await tandemJson(`matmul ${files} --output ${folder}/c.npy --devices 1`)
      await tandemJson(`matmul ${files} --output ${folder}/d.npy --devices 2`)
      await tandemJson(`matmul ${files} --output ${folder}/s.npy --devices 2 --result-type f32`)
      expect(
        numpy(
          folder,
          `c = np.load('a.npy').astype('f8') @ np.load('b.npy').astype('f8')
print(*[np.load(f).dtype for f in ['c.npy', 's.npy']], *[bool((np.load(f) == c.astype(t)).all()) for f, t in [('c.npy', 'f2'), ('d.npy', 'f2'), ('s.npy', 'f4')]])`,
        ),
      ).toBe('float16 float32 True True True')
    })

    it('on Jacobi sweeps with a given boundary', async () => {
      const folder = await temporaryFolder()
      numpy(
        folder,
        `b = np.zeros((20, 30), 'f4'); b[0] = 1; b[:, -1] = np.linspace(1, 3, 20); np.save('b.npy', b)`,
      )
      await tandemJson(`jacobi --input ${folder}/b.npy --iterations 40 --devices 3 --output ${folder}/u.npy`)
      expect(
        numpy(
          folder,
          `u = np.load('b.npy').astype('f8'); u[1:-1, 1:-1] = 0
for _ in range(40): u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
print(bool(np.abs(np.load('u.npy') - u).max() < 1e-5))`,
        ),
      ).toBe('True')
    })
  },
)
