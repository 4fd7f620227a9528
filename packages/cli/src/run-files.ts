import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { type InputFile, inputFile } from './array-files.ts'
import { UsageError } from './exit-code.ts'
import type { Job } from './job.ts'
import type { FileElementType } from './npy/element-conversion.ts'
import { NpyReader } from './npy/reader.ts'
import { OutputFile } from './output-file.ts'
import { printable } from './printable.ts'
import type { Progress } from './progress.ts'
import type { Terminal } from './terminal.ts'

/** The options that say what becomes of files. */
interface FileOptions {
  readonly job?: Job | undefined
  readonly cast?: boolean | undefined
}

type Format = 'npy' | 'png' | 'svg'

/**
 * The files of one run. Outputs appear under their names only if the run succeeds; all files are closed at
 * its end.
 */
export class RunFiles {
  readonly #outputs: OutputFile[] = []
  readonly #inputs: NpyReader[] = []
  readonly #writes: boolean
  readonly #cast: boolean
  readonly #progress: Progress

  /** Of the processes of a job, the first writes: the outputs of all others go nowhere. */
  constructor({ job, cast = false }: FileOptions, progress: Progress) {
    this.#writes = job === undefined || job.rank === 0
    this.#cast = cast
    this.#progress = progress
  }

  /**
   * Opens a file, before any device is opened, so that a wrong file is reported early. Resolves to undefined
   * where `path` is undefined, as `output` does: the user gives none. Throws `UsageError` as `NpyReader.open`
   * does.
   */
  input<T extends FileElementType>(
    path: string,
    accepted: readonly T[],
    complex?: boolean,
  ): Promise<InputFile<T>>
  input<T extends FileElementType>(
    path: string | undefined,
    accepted: readonly T[],
    complex?: boolean,
  ): Promise<InputFile<T> | undefined>
  async input<T extends FileElementType>(path: string | undefined, accepted: readonly T[], complex = false) {
    if (path === undefined) return undefined
    const reader = await NpyReader.open(path, { accepted, complex, cast: this.#cast })
    this.#inputs.push(reader)
    return inputFile<T>(reader, this.#progress)
  }

  /**
   * Creates an output, which `commit` makes appear under `path`. Throws `UsageError` where another output of
   * the run is the same file, and where the name of a file ends as no file of the `format` does (`npy`, say);
   * a name without an ending is taken as it is.
   */
  output(path: string, format?: Format): Promise<OutputFile>
  output(path: string | undefined, format?: Format): Promise<OutputFile | undefined>
  async output(path: string | undefined, format?: Format) {
    if (path === undefined) return undefined
    const ending = extname(path)
    if (
      format !== undefined &&
      ending !== '' &&
      ending.toLowerCase() !== `.${format}` &&
      !(await isSpecialFile(path))
    )
      throw new UsageError(
        `This output is written as ${format.toUpperCase()}, but ${printable(path)} ends in ${printable(ending)}: use a name that ends in .${format}.`,
      )
    const file = await OutputFile.create(this.#writes ? path : '/dev/null')
    const same = this.#outputs.some(({ target }) => target !== undefined && target === file.target)
    this.#outputs.push(file)
    if (same) throw new UsageError(`Two outputs have the name ${file.name}; each needs its own file.`)
    return file
  }

  /** Prints what the run has to say: on standard error where an output is standard output. */
  say(text: string, terminal: Terminal, { quiet = false }: { readonly quiet?: boolean | undefined }): void {
    if (quiet) return
    if (this.#outputs.some(({ isStandardOutput }) => isStandardOutput)) terminal.error(text)
    else terminal.out(text)
  }

  async commit(): Promise<void> {
    for (const file of this.#outputs) await file.commit()
  }

  async close(): Promise<void> {
    for (const file of this.#outputs) await file.discard()
    for (const reader of this.#inputs) await reader.close()
  }
}

/** A device, a FIFO or the like, whose name says nothing about what goes into it. */
async function isSpecialFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && !found.isFile() && !found.isDirectory()
}
