import { OutputFile } from './output-file.ts'

/** The files of one run. Outputs appear under their names only if the run succeeds; all files are closed at its end. */
export class RunFiles {
  readonly #outputs: OutputFile[] = []
  readonly #closers: (() => Promise<void>)[] = []
  readonly #writes: boolean

  /** `writes` false: this process of a job leaves the writing to another one, and its outputs go nowhere. */
  constructor(writes = true) {
    this.#writes = writes
  }

  /** Creates an output, which `commit` makes appear under `path`. */
  async output(path: string): Promise<OutputFile> {
    const file = await OutputFile.create(this.#writes ? path : '/dev/null')
    this.#outputs.push(file)
    return file
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
