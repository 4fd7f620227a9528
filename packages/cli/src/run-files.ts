import { UsageError } from './exit-code.ts'
import { OutputFile } from './output-file.ts'
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

  /** Creates an output, which `commit` makes appear under `path`. Throws `UsageError` where another output of the run is the same file. */
  async output(path: string): Promise<OutputFile> {
    const file = await OutputFile.create(this.#writes ? path : '/dev/null')
    const same = this.#outputs.some(({ target }) => target !== undefined && target === file.target)
    this.#outputs.push(file)
    if (same) throw new UsageError(`Two outputs would be ${file.name}; give each a file of its own.`)
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
