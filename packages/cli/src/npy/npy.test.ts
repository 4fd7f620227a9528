import { readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ElementArray, elementArray } from '@tandem-gpu/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OutputFile } from '../output-file.ts'
import { numpy, pythonWithNumpy } from '../testing/numpy.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import type { FileElementType } from './element-conversion.ts'
import { formatNpyHeader, parseNpyHeader } from './header.ts'
import { NpyReader, type NpyReadOptions } from './reader.ts'
import { NpyWriter } from './writer.ts'

const anyType: NpyReadOptions = { accepted: ['f32', 'i32', 'u32'] }

async function writeNpy(
  path: string,
  type: FileElementType,
  shape: number[],
  elements: ElementArray<FileElementType>,
) {
  const file = await OutputFile.create(path)
  const writer = await NpyWriter.start(file, type, shape)
  await writer.writeElements(0, elements)
  await file.commit()
}

async function readMatrix(path: string, options: NpyReadOptions, atOnce: number) {
  const reader = await NpyReader.open(path, options)
  try {
    const [rows, columns] = reader.matrixShape()
    const all = elementArray(reader.type, rows * columns)
    for (let first = 0; first < all.length; first += atOnce) {
      await reader.readRowMajor(first, all.subarray(first, first + atOnce) as typeof all)
    }
    return { type: reader.type, rows, columns, elements: all }
  } finally {
    await reader.close()
  }
}

/** A version 1.0 file with the given header text. */
function npyBytes(dictionary: string, data: Uint8Array = new Uint8Array(), version = 1): Uint8Array {
  const text = new TextEncoder().encode(`${dictionary}\n`)
  const length =
    version === 1 ? [text.length & 255, text.length >> 8] : [text.length & 255, text.length >> 8, 0, 0]
  return Uint8Array.from([
    0x93,
    ...new TextEncoder().encode('NUMPY'),
    version,
    0,
    ...length,
    ...text,
    ...data,
  ])
}

describe('headers', () => {
  it('are read as they were written, aligned to 64 bytes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(1000), { maxLength: 4 }),
        fc.constantFrom('<f4', '<i4', '<u4'),
        (shape, descr) => {
          const bytes = formatNpyHeader(descr, shape)
          expect(bytes.length % 64).toBe(0)
          expect(parseNpyHeader(bytes, 'a.npy')).toEqual({
            descr,
            shape,
            fortranOrder: false,
            dataByteOffset: bytes.length,
          })
        },
      ),
    )
  })

  it('of versions 2 and 3, in any order of keys and with either quote, are read', () => {
    for (const version of [2, 3]) {
      const bytes = npyBytes(`{"shape": (3, 4L,), 'fortran_order': True, "descr": '<i4'}`, undefined, version)
      expect(parseNpyHeader(bytes, 'a.npy')).toMatchObject({
        descr: '<i4',
        fortranOrder: true,
        shape: [3, 4],
      })
    }
  })

  it.each([
    ['no dictionary', '[1, 2]'],
    ['a missing key', "{'descr': '<f4', 'shape': (1,)}"],
    ['an unreadable entry', "{'descr': '<f4', 'fortran_order': maybe, 'shape': (1,)}"],
    ['a shape that is no tuple', "{'descr': '<f4', 'fortran_order': False, 'shape': (1, -2)}"],
    ['a shape beyond 2^53 bytes', "{'descr': '<f4', 'fortran_order': False, 'shape': (9007199254740991, 3)}"],
  ])('with %s are rejected, and the sentence quotes them', (_, dictionary) => {
    expect(() => parseNpyHeader(npyBytes(dictionary), 'a.npy')).toThrow(
      /a\.npy has an invalid \.npy header: .* in "/,
    )
  })

  it.each([
    ['spaces in the shape', `(1${' '.repeat(60_000)}x)`],
    ['spaces between numbers', `(${'1 '.repeat(30_000)})`],
    ['opening brackets', '['.repeat(60_000)],
    ['opening quotes', `"'`.repeat(30_000)],
    ['commas', `(${','.repeat(60_000)})`],
  ])('with 60,000 %s are rejected in the time of one pass', (_, shape) => {
    const bytes = npyBytes(`{'descr': '<f4', 'fortran_order': False, 'shape': ${shape}, }`)
    // Two hundred times: with earlier regular expressions, which took seconds each, this would exceed the
    // time limit of a test.
    for (let i = 0; i < 200; i++)
      expect(() => parseNpyHeader(bytes, 'a.npy')).toThrow(/a\.npy has an invalid \.npy header/)
  })

  it('of other formats are rejected', () => {
    expect(() => parseNpyHeader(new TextEncoder().encode('PK\x03\x04 and so on'), 'a.npz')).toThrow(
      /a\.npz is not a \.npy file/,
    )
    expect(() => parseNpyHeader(npyBytes('{}', undefined, 9), 'a.npy')).toThrow(
      /version 9\.0, but Tandem reads versions 1 to 3/,
    )
  })
})

describe('files', () => {
  it('round-trip any matrix in pieces', async () => {
    const folder = await temporaryFolder()
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<FileElementType>('f32', 'i32', 'u32', 'f16', 'u8', 'i8'),
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: 1, max: 4 }),
        async (type, rows, columns, atOnce) => {
          const elements = elementArray(type, rows * columns).map(
            (_, i) => i * 3 - (type.startsWith('u') ? 0 : 7),
          )
          await writeNpy(
            join(folder, 'a.npy'),
            type,
            [rows, columns],
            elements as ElementArray<FileElementType>,
          )
          expect(await readMatrix(join(folder, 'a.npy'), { accepted: [type] }, atOnce)).toEqual({
            type,
            rows,
            columns,
            elements,
          })
        },
      ),
      { numRuns: 40 },
    )
  })

  it('leave nothing behind when they are discarded, and keep the earlier contents', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'a.npy'), 'before')
    const file = await OutputFile.create(join(folder, 'a.npy'))
    await NpyWriter.start(file, 'f32', [2, 2])
    expect(await readdir(folder)).toHaveLength(2)
    await file.discard()
    expect(await readdir(folder)).toEqual(['a.npy'])
    expect(await readFile(join(folder, 'a.npy'), 'utf8')).toBe('before')
  })

  it('that are truncated or too long are rejected with both byte counts', async () => {
    const path = join(await temporaryFolder(), 'a.npy')
    await writeNpy(path, 'f32', [10, 10], elementArray('f32', 100))
    await truncate(path, 300)
    await expect(NpyReader.open(path, anyType)).rejects.toThrow(
      /is truncated: shape \(10, 10\) of <f4 needs 528 bytes, but the file has 300/,
    )
    await truncate(path, 600)
    await expect(NpyReader.open(path, anyType)).rejects.toThrow(/is longer than its header says/)
    await truncate(path, 40)
    await expect(NpyReader.open(path, anyType)).rejects.toThrow(/ends within its header/)
  })

  it('of other types are rejected, and the sentence recommends astype, or --cast if it works', async () => {
    const path = join(await temporaryFolder(), 'a.npy')
    const refuse = async (descr: string, options = anyType) => {
      await writeFile(path, npyBytes(`{'descr': ${descr}, 'fortran_order': False, 'shape': (0,)}`))
      return NpyReader.open(path, options).then(
        async (reader) => {
          await reader.close()
          return 'accepted'
        },
        (error) => error.message.replace(path, 'a.npy'),
      )
    }
    expect(await refuse("'<f8'")).toBe(
      "a.npy contains float64, but the command needs float32, int32 or uint32: save it with a.astype('float32'), or pass --cast.",
    )
    expect(await refuse("'<i8'", { accepted: ['i32'] })).toMatch(/astype\('int32'\), or pass --cast/)
    expect(await refuse("'<i4'", { accepted: ['f32'] })).toBe(
      "a.npy contains int32, but the command needs float32: save it with a.astype('float32').",
    )
    expect(await refuse("'<f2'")).toMatch(
      /contains float16, but the command needs float32.*astype\('float32'\)\.$/,
    )
    expect(await refuse("'<f8'", { accepted: ['f16'], cast: true })).toMatch(/astype\('float16'\)\.$/)
    expect(await refuse("'|u1'")).toMatch(/contains uint8, but the command needs float32/)
    expect(await refuse("'>f4'")).toMatch(/type '>f4' \(big-endian\).*astype\('float32'\)/)
    expect(await refuse("[('x', '<f4'), ('y', '<i4')]")).toMatch(/structured type .*save one field/)
    expect(await refuse("'<f8'", { accepted: ['f32'], cast: true })).toBe('accepted')
  })

  it('of one dimension are refused as a matrix', async () => {
    const path = join(await temporaryFolder(), 'a.npy')
    await writeNpy(path, 'f32', [4], elementArray('f32', 4))
    const reader = await NpyReader.open(path, anyType)
    expect(() => reader.matrixShape()).toThrow(/shape \(4\), but the command needs a matrix/)
    await reader.close()
  })

  it('that are folders or missing are rejected', async () => {
    const folder = await temporaryFolder()
    await expect(NpyReader.open(folder, anyType)).rejects.toThrow(/is not a regular file/)
    await expect(NpyReader.open(join(folder, 'b.npy'), anyType)).rejects.toThrow(
      /cannot be read: no such file/,
    )
    await expect(OutputFile.create(folder)).rejects.toThrow(/is a folder/)
    await expect(OutputFile.create(join(folder, 'none', 'b.npy'))).rejects.toThrow(
      /cannot be written: no such file/,
    )
  })
})

describe.skipIf(pythonWithNumpy === undefined)('NumPy (skipped where Python has no numpy module)', () => {
  it.each(['C', 'F'])('writes what we read, order %s, every version', async (order) => {
    const folder = await temporaryFolder()
    numpy(
      folder,
      `a = np.array(np.arange(35, dtype='<i4').reshape(5, 7) - 9, order='${order}')
for v in [(1, 0), (2, 0), (3, 0)]:
    with open(f'v{v[0]}.npy', 'wb') as f: np.lib.format.write_array(f, a, version=v)`,
    )
    const elements = elementArray('i32', 35).map((_, i) => i - 9)
    for (const file of ['v1.npy', 'v2.npy', 'v3.npy']) {
      const matrix = await readMatrix(join(folder, file), anyType, 2)
      expect(matrix).toEqual({ type: 'i32', rows: 5, columns: 7, elements })
    }
  })

  it('reads what we write', async () => {
    const folder = await temporaryFolder()
    await writeNpy(join(folder, 'b.npy'), 'i8', [3], Int8Array.of(-128, 0, 127))
    expect(numpy(folder, `a = np.load('b.npy'); print(a.dtype, a.tolist())`)).toBe('int8 [-128, 0, 127]')
    await writeNpy(join(folder, 'a.npy'), 'u32', [2, 3], Uint32Array.of(0, 1, 2, 3, 4, 4294967295))
    expect(numpy(folder, `a = np.load('a.npy'); print(a.dtype, a.shape, a.tolist())`)).toBe(
      'uint32 (2, 3) [[0, 1, 2], [3, 4, 4294967295]]',
    )
  })

  it.each(['C', 'F'])('float64 and int64, order %s, are cast with a range check', async (order) => {
    const folder = await temporaryFolder()
    numpy(
      folder,
      `np.save('f.npy', np.array([[1/3, -2.5, np.inf], [np.nan, 1e-50, 7]], order='${order}'))
np.save('i.npy', np.array([[1, -2, 2**31 - 1], [0, -2**31, 7]], order='${order}'))
np.save('far.npy', np.array([[1, 2], [1e39, 4]], order='${order}'))
np.save('long.npy', np.array([[1, 2**31]], order='${order}'))`,
    )
    const read = (name: string) => readMatrix(join(folder, name), { ...anyType, cast: true }, 1)
    expect((await read('f.npy')).elements).toEqual(
      Float32Array.of(Math.fround(1 / 3), -2.5, Number.POSITIVE_INFINITY, Number.NaN, 0, 7),
    )
    expect((await read('i.npy')).elements).toEqual(Int32Array.of(1, -2, 2147483647, 0, -2147483648, 7))
    await expect(read('far.npy')).rejects.toThrow(/has 1e\+39 at element \d, which does not fit in float32/)
    await expect(read('long.npy')).rejects.toThrow(/has 2147483648 at element 1, which does not fit in int32/)
  })
})
