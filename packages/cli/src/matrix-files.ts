import type { ElementSink, ElementSource } from '@tandem-gpu/algorithms'
import type { RunFiles } from './algorithm-run.ts'
import type { NpyElementType } from './npy/element-conversion.ts'
import { NpyReader, type NpyReadOptions } from './npy/reader.ts'
import { NpyWriter } from './npy/writer.ts'
import type { OutputFile } from './output-file.ts'
import type { Progress } from './progress.ts'

/** A `.npy` file as the input of an algorithm: read in pieces, as often as asked. */
export interface InputFile {
  readonly reader: NpyReader
  readonly type: NpyElementType
  /** In row-major order, whatever the file's. */
  source(): ElementSource<NpyElementType>
}

export async function openInput(files: RunFiles, path: string, options: NpyReadOptions): Promise<InputFile> {
  const reader = files.closing(await NpyReader.open(path, options))
  return {
    reader,
    type: reader.type,
    source: () => (offset, into) => reader.readRowMajor(offset, into),
  }
}

/** The sink that writes an array of `shape` into `file`, with a bar where there is somebody to see it. */
export async function npySink(
  file: OutputFile,
  type: NpyElementType,
  shape: readonly number[],
  progress: Progress,
): Promise<ElementSink<NpyElementType>> {
  const length = shape.reduce((product, side) => product * side, 1)
  const writer = await NpyWriter.start(file, type, shape)
  return async (offset, data) => {
    if (offset === 0) progress.start(`Writing ${file.path}`, length)
    await writer.writeElements(offset, data)
    progress.step(data.length)
    if (offset + data.length === length) progress.stop()
  }
}
