import type { ElementArray } from '@tandem-gpu/core'
import type { OutputFile } from '../output-file.ts'
import { complexDescr, descrOf, type FileElementType } from './element-conversion.ts'
import { formatNpyHeader } from './header.ts'

/**
 * A `.npy` file in C order, written in pieces: in any order to a regular file, and in ascending order to
 * anything else. The caller commits `file`.
 */
export class NpyWriter {
  readonly #file: OutputFile
  readonly #dataByteOffset: number

  private constructor(file: OutputFile, dataByteOffset: number) {
    this.#file = file
    this.#dataByteOffset = dataByteOffset
  }

  /**
   * Writes the header into `file`, which was created before the work started. `c64` stands for complex
   * numbers of two elements (f32) each.
   */
  static async start(
    file: OutputFile,
    type: FileElementType | 'c64',
    shape: readonly number[],
  ): Promise<NpyWriter> {
    const header = formatNpyHeader(type === 'c64' ? complexDescr : descrOf[type], shape)
    await file.write(header, 0)
    return new NpyWriter(file, header.byteLength)
  }

  /** `first` counts elements from the start of the array. */
  async writeElements(first: number, elements: ElementArray<FileElementType>): Promise<void> {
    const bytes = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength)
    await this.#file.write(bytes, this.#dataByteOffset + first * elements.BYTES_PER_ELEMENT)
  }
}
