import type { Location } from './ir.ts'
import { WgslError, type WgslErrorPlace } from './wgsl-error.ts'

/** The error for a source that may be valid but uses features that this compiler does not support. */
export class UnsupportedError extends WgslError {}

/** The result of a check, or the error that ended it at the first feature that is not supported. */
export function attempt<T>(check: () => T): T | UnsupportedError {
  try {
    return check()
  } catch (error) {
    if (error instanceof UnsupportedError) return error
    throw error
  }
}

/** A WGSL source with its label; turns offsets into lines and columns. */
export class SourceText {
  readonly text: string
  readonly label: string
  #lineStarts: number[] | undefined

  constructor(text: string, label: string) {
    this.text = text
    this.label = label
  }

  get #starts(): number[] {
    if (this.#lineStarts === undefined) {
      const starts = [0]
      // The line breaks of the WGSL specification, section 3.1.
      const breaks = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g
      for (let match = breaks.exec(this.text); match !== null; match = breaks.exec(this.text)) {
        starts.push(match.index + match[0].length)
      }
      this.#lineStarts = starts
    }
    return this.#lineStarts
  }

  /** The line and column of an offset. */
  locate(offset: number): Location {
    const starts = this.#starts
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - starts[low]! + 1 }
  }

  /** The offset of the line after that of an offset, or of the end. */
  endOfLine(offset: number): number {
    return this.#starts[this.locate(offset).line] ?? this.text.length
  }

  /** Returns an error at an offset for an unsupported feature. */
  unsupported(offset: number, text: string): UnsupportedError {
    return new UnsupportedError(text, this.#place(this.locate(offset)))
  }

  /** Returns an error at an offset. */
  error(offset: number, text: string): WgslError {
    return this.errorAt(this.locate(offset), text)
  }

  /** Returns an error at a line and column. */
  errorAt(location: Location, text: string): WgslError {
    return new WgslError(text, this.#place(location))
  }

  #place({ line, column }: Location): WgslErrorPlace {
    const start = this.#starts[line - 1]!
    const end = this.#starts[line] ?? this.text.length
    // Only the end is searched: a line can be long, and there can be many errors about features in it.
    const [lineBreak] = /[\n\v\f\r\u0085\u2028\u2029]*$/.exec(this.text.slice(Math.max(start, end - 2), end))!
    return { line, column, label: this.label, sourceLine: this.text.slice(start, end - lineBreak.length) }
  }
}
