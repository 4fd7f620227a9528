import type { FileHandle } from 'node:fs/promises'
import { type ElementArray, elementArray } from '@tandem-gpu/core'
import { UsageError } from '../exit-code.ts'
import { FileError, fileReason, isFileSystemError } from '../file-error.ts'
import { openInputFile } from '../input-file.ts'
import { printable } from '../printable.ts'
import { type ElementConversion, elementConversion, type FileElementType } from './element-conversion.ts'
import { type NpyHeader, npyPreambleByteLength, parseNpyHeader } from './header.ts'

/** The size of one read. A file in Fortran order up to this size is read as a whole. */
const chunkByteLength = 16 * 1024 * 1024

export interface NpyReadOptions {
  /** The types that the algorithm accepts, in order of preference. */
  readonly accepted: readonly FileElementType[]
  /** If true, files of complex numbers are accepted too. */
  readonly complex?: boolean | undefined
  /**
   * Converts float64, int64 and uint64, and complex128 if complex numbers are accepted, with a range check.
   */
  readonly cast?: boolean | undefined
}

/** A `.npy` file, open for reading in pieces, so that it may exceed the host's memory. */
export class NpyReader {
  readonly name: string
  /** Counts complex numbers if `complex` is true. */
  readonly shape: readonly number[]
  readonly complex: boolean
  readonly fortranOrder: boolean
  /** The number of elements: two for a complex number. */
  readonly length: number
  readonly #handle: FileHandle
  readonly #conversion: ElementConversion
  readonly #dataByteOffset: number

  private constructor(name: string, handle: FileHandle, header: NpyHeader, conversion: ElementConversion) {
    this.name = name
    this.shape = header.shape
    this.fortranOrder = header.fortranOrder
    this.complex = conversion.complex
    this.length = elementCount(header.shape) * (conversion.complex ? 2 : 1)
    this.#handle = handle
    this.#conversion = conversion
    this.#dataByteOffset = header.dataByteOffset
  }

  get type(): FileElementType {
    return this.#conversion.type
  }

  /**
   * Throws `UsageError` if the file is missing, truncated, too long for its header, or of a type that is not
   * accepted.
   */
  static async open(path: string, options: NpyReadOptions): Promise<NpyReader> {
    const name = printable(path)
    const handle = await openInputFile(path)
    try {
      const information = await handle.stat()
      const header = await readHeader(handle, name)
      const conversion = elementConversion(header.descr, {
        name,
        accepted: options.accepted,
        cast: options.cast ?? false,
        complex: options.complex,
      })
      const count = elementCount(header.shape) * (conversion.complex ? 2 : 1)
      const announced = header.dataByteOffset + count * conversion.fileByteLength
      if (information.size !== announced) {
        const verdict = information.size < announced ? 'is truncated' : 'is longer than its header says'
        throw new UsageError(
          `${name} ${verdict}: shape (${header.shape.join(', ')}) of ${header.descr} needs ${announced} bytes, but the file has ${information.size}.`,
          'bad-input',
        )
      }
      return new NpyReader(name, handle, header, conversion)
    } catch (error) {
      await handle.close()
      if (isFileSystemError(error))
        throw new UsageError(`${name} cannot be read: ${fileReason(error)}.`, 'bad-input')
      throw error
    }
  }

  /** Throws `UsageError` unless the array has one dimension. */
  vectorLength(): number {
    if (this.shape.length !== 1)
      throw new UsageError(
        `${this.name} has shape (${this.shape.join(', ')}), but the command needs one dimension: save it with a.ravel().`,
        'bad-input',
      )
    return this.length
  }

  /** Throws `UsageError` unless the array has two dimensions. */
  matrixShape(): readonly [rows: number, columns: number] {
    const [rows, columns] = this.shape
    if (this.shape.length !== 2 || rows === undefined || columns === undefined) {
      throw new UsageError(
        `${this.name} has shape (${this.shape.join(', ')}), but the command needs a matrix: save it with a.reshape(rows, columns).`,
        'bad-input',
      )
    }
    return [rows, columns]
  }

  /**
   * Throws `UsageError` for an array of several dimensions in Fortran order, because its last dimension is
   * not contiguous.
   */
  requireOrder(): void {
    if (this.fortranOrder && this.shape.filter((length) => length > 1).length > 1)
      throw new UsageError(
        `${this.name} is in Fortran order, but the command needs C order: save it with np.ascontiguousarray(a).`,
        'bad-input',
      )
  }

  /**
   * Fills `into` with the elements of a matrix, starting at the flat row-major index `offset`, regardless of
   * the order in the file. Any range may be read any number of times.
   */
  async readRowMajor(offset: number, into: ElementArray<FileElementType>): Promise<void> {
    if (!this.fortranOrder) return this.readFileOrder(offset, into)
    const [rows, columns] = this.matrixShape()
    if (into.length === 0) return
    // A file in Fortran order holds the transposed matrix: each column holds the wanted rows next to each
    // other.
    const firstRow = Math.floor(offset / columns)
    const count = Math.floor((offset + into.length - 1) / columns) + 1 - firstRow
    const width = this.#conversion.fileByteLength
    const whole =
      rows * columns * width <= chunkByteLength ? new Uint8Array(rows * columns * width) : undefined
    if (whole !== undefined) await this.#readBytes(0, whole)
    const columnBytes = new Uint8Array(count * width)
    const elements = elementArray(this.type, count)
    for (let c = 0; c < columns; c++) {
      const position = c * rows + firstRow
      const bytes = whole?.subarray(position * width, (position + count) * width) ?? columnBytes
      if (whole === undefined) await this.#readBytes(position * width, bytes)
      this.#conversion.convert(bytes, elements, position)
      for (let r = 0; r < count; r++) {
        const target = (firstRow + r) * columns + c - offset
        if (target >= 0 && target < into.length) into[target] = elements[r]!
      }
    }
  }

  /** Like `readRowMajor`, for any shape, in the order of the file. */
  async readFileOrder(offset: number, into: ElementArray<FileElementType>): Promise<void> {
    const width = this.#conversion.fileByteLength
    const chunk = new Uint8Array(Math.min(into.length * width, chunkByteLength))
    for (let done = 0; done < into.length; ) {
      const count = Math.min(into.length - done, chunk.byteLength / width)
      const bytes = chunk.subarray(0, count * width)
      await this.#readBytes((offset + done) * width, bytes)
      const target = into.subarray(done, done + count) as ElementArray<FileElementType>
      this.#conversion.convert(bytes, target, offset + done)
      done += count
    }
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  async #readBytes(byteOffset: number, into: Uint8Array): Promise<void> {
    await readFully(this.#handle, this.#dataByteOffset + byteOffset, into, this.name)
  }
}

async function readHeader(handle: FileHandle, name: string): Promise<NpyHeader> {
  const start = await readUpTo(handle, 0, npyPreambleByteLength)
  // Headers are almost always 128 bytes. The limit of 65,536 bytes and the preamble exceeds what NumPy reads.
  const rest = await readUpTo(handle, start.byteLength, 65_536 + npyPreambleByteLength)
  const bytes = new Uint8Array(start.byteLength + rest.byteLength)
  bytes.set(start)
  bytes.set(rest, start.byteLength)
  return parseNpyHeader(bytes, name)
}

async function readUpTo(handle: FileHandle, position: number, byteLength: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(byteLength)
  let filled = 0
  while (filled < byteLength) {
    const { bytesRead } = await handle.read(bytes, filled, byteLength - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}

async function readFully(
  handle: FileHandle,
  position: number,
  into: Uint8Array,
  name: string,
): Promise<void> {
  let filled = 0
  while (filled < into.byteLength) {
    const { bytesRead } = await handle
      .read(into, filled, into.byteLength - filled, position + filled)
      .catch((error) => {
        throw new FileError(`${name} cannot be read: ${fileReason(error)}.`, { cause: error })
      })
    if (bytesRead === 0) throw new UsageError(`${name} became shorter while it was being read.`, 'bad-input')
    filled += bytesRead
  }
}

function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1)
}
