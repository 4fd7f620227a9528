import type { ElementReader, ElementWriter } from '@tandem-gpu/algorithms'
import type { FileElementType, NpyElementType } from './npy/element-conversion.ts'
import type { NpyReader } from './npy/reader.ts'
import { NpyWriter } from './npy/writer.ts'
import type { OutputFile } from './output-file.ts'
import type { Part, Progress } from './progress.ts'

/** A `.npy` file as the input of an algorithm, which may read it in pieces and repeatedly. */
export interface InputFile<T extends FileElementType = NpyElementType> {
  /** The path, as messages print it. */
  readonly name: string
  readonly type: T
  /** The shape in the file's header; counts complex numbers if `complex` is true. */
  readonly shape: readonly number[]
  readonly complex: boolean
  /** The number of elements: two for a complex number. */
  readonly length: number
  /** Throws `UsageError` unless the array has one dimension. */
  vectorLength(): number
  /** Throws `UsageError` unless the array has two dimensions. */
  matrixShape(): readonly [rows: number, columns: number]
  /** Reads a matrix in row-major order, regardless of the order in the file. */
  rowMajor(): ElementReader<T>
  /** Throws `UsageError` if the file's order is not that of the axes. */
  requireOrder(): void
  /** Reads an array of any shape in the order of the file. */
  fileOrder(): ElementReader<T>
}

/** The file that `reader` has opened and whose type `T` it has checked. Reading it shows progress. */
export function inputFile<T extends FileElementType>(reader: NpyReader, progress: Progress): InputFile<T> {
  const shown = (read: ElementReader<T>): ElementReader<T> => {
    let done = 0
    let part: Part | undefined
    return async (offset, into) => {
      part ??= progress.begin(`Reading ${reader.name}`, reader.length)
      await read(offset, into)
      part.step(into.length)
      done += into.length
      if (done < reader.length) return
      // The verification reads the file again.
      part.end()
      part = undefined
      done = 0
    }
  }
  return {
    name: reader.name,
    type: reader.type as T,
    shape: reader.shape,
    complex: reader.complex,
    length: reader.length,
    vectorLength: () => reader.vectorLength(),
    matrixShape: () => reader.matrixShape(),
    requireOrder: () => reader.requireOrder(),
    rowMajor: () => shown((offset, into) => reader.readRowMajor(offset, into)),
    fileOrder: () => shown((offset, into) => reader.readFileOrder(offset, into)),
  }
}

/**
 * A sink that writes an array of `shape` into `file`, in ascending order; undefined if there is no file.
 * `c64` stands for complex numbers of two elements (f32) each.
 */
export async function npySink<T extends FileElementType | 'c64'>(
  file: OutputFile | undefined,
  type: T,
  shape: readonly number[],
  progress: Progress,
): Promise<ElementWriter<T extends FileElementType ? T : 'f32'> | undefined> {
  if (file === undefined) return undefined
  const length = shape.reduce((product, side) => product * side, type === 'c64' ? 2 : 1)
  const writer = await NpyWriter.start(file, type, shape)
  let part: Part | undefined
  return async (offset, data) => {
    part ??= progress.begin(`Writing ${file.name}`, length)
    await writer.writeElements(offset, data)
    part.step(data.length)
    if (offset + data.length === length) part.end()
  }
}

/**
 * A sink that adds elements to a picture, writes them into a file, or both; undefined if there is neither.
 */
export function bothSinks(
  picture: { add(offset: number, elements: ArrayLike<number>): void } | undefined,
  file: ElementWriter<'f32'> | undefined,
): ElementWriter<'f32'> | undefined {
  if (picture === undefined) return file
  return async (offset, elements) => {
    picture.add(offset, elements)
    await file?.(offset, elements)
  }
}
