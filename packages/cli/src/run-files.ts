import { OutputFile } from './output-file.ts'

/** Files of one run: outputs appear only when the run succeeds; all are closed at its end. */
export class RunFiles {
  readonly #outputs: OutputFile[] = []
  readonly #closers: (() => Promise<void>)[] = []

  /** Appears under `path` when the answer is not known to be wrong. */
  async output(path: string): Promise<OutputFile> {
    const file = await OutputFile.create(path)
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
