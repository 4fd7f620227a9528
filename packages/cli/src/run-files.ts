import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { UsageError } from './exit-code.ts'
import { OutputFile } from './output-file.ts'
import { printable } from './printable.ts'
import type { Terminal } from './terminal.ts'

/** The files of one run. Outputs appear under their names only if the run succeeds; all files are closed at its end. */
export class RunFiles {
  readonly #outputs: OutputFile[] = []
  readonly #closers: (() => Promise<void>)[] = []
  readonly #writes: boolean

  /** `writes` false: this process of a job leaves the writing to another one, and its outputs go nowhere. */
  constructor(writes = true) {
    this.#writes = writes
  }

  /**
   * Creates an output, which `commit` makes appear under `path`. Throws `UsageError` where another output of the run is the same file, and where
   * the name of a file ends as no file of the `format` does (`npy`, say); a name without an ending is taken as it is.
   */
  async output(path: string, format?: 'npy' | 'png' | 'svg'): Promise<OutputFile> {
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

  closing<T extends { close(): Promise<void> }>(file: T): T {
    this.#closers.push(() => file.close())
    return file
  }

  async commit(): Promise<void> {
    for (const file of this.#outputs) await file.commit()
  }

  async close(): Promise<void> {
    for (const file of this.#outputs) await file.discard()
    for (const close of this.#closers) await close()
  }
}

/** A device, a FIFO or the like, whose name says nothing about what goes into it. */
async function isSpecialFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && !found.isFile() && !found.isDirectory()
}
