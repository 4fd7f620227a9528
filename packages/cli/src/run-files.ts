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

/** The options that concern files. */
interface FileOptions {
  readonly job?: Job | undefined
  readonly cast?: boolean | undefined
}

type Format = 'npy' | 'png' | 'svg' | 'json' | 'html' | 'txt'

/**
 * Throws `UsageError` if the path has an ending that does not fit any of the formats. A name without an
 * ending is accepted, and so is a special file.
 */
export async function requireEnding(path: string, ...formats: readonly Format[]): Promise<void> {
  const ending = extname(path)
  const fits = ending === '' || formats.some((format) => ending.toLowerCase() === `.${format}`)
  if (fits || (await isSpecialFile(path))) return
  const names = formats.map((format) => (format === 'txt' ? 'text' : format.toUpperCase()))
  throw new UsageError(
    `This output is written as ${names.join(' or ')}, but ${printable(path)} ends in ${printable(ending)}: use a name that ends in ${formats.map((format) => `.${format}`).join(' or ')}.`,
  )
}

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

  /** Only the first process of a job writes; the outputs of the others are discarded. */
  constructor({ job, cast = false }: FileOptions, progress: Progress) {
    this.#writes = job === undefined || job.rank === 0
    this.#cast = cast
    this.#progress = progress
  }

  /**
   * Opens a file, before any device is opened, so that a wrong file is reported early. Resolves to undefined
   * if the user gives no path, as `output` does. Throws `UsageError` as `NpyReader.open` does.
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
   * Creates an output, which appears under `path` after `commit`. Throws `UsageError` if another output of
   * the run is the same file, or if its name fits none of the `formats`, as `requireEnding` does.
   */
  output(path: string, ...formats: [Format, ...Format[]]): Promise<OutputFile>
  output(path: string | undefined, ...formats: [Format, ...Format[]]): Promise<OutputFile | undefined>
  async output(path: string | undefined, ...formats: [Format, ...Format[]]) {
    if (path === undefined) return undefined
    await requireEnding(path, ...formats)
    const file = await OutputFile.create(this.#writes ? path : '/dev/null')
    const same = this.#outputs.some(({ target }) => target !== undefined && target === file.target)
    this.#outputs.push(file)
    if (same) throw new UsageError(`Two outputs have the name ${file.name}; each needs its own file.`)
    return file
  }

  /** Prints the report of the run: on standard error if an output is standard output. */
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

/** Whether the path is a device, a FIFO or the like, whose name says nothing about the format. */
async function isSpecialFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && !found.isFile() && !found.isDirectory()
}
