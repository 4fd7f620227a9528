/** Where in which source an error lies. */
export interface WgslErrorPlace {
  readonly line: number
  readonly column: number
  readonly label: string
  /** The text of the line. */
  readonly sourceLine: string
}

/**
 * A WGSL source that does not compile. The message reads `label:line:column: text`, then the source line with a caret.
 * Lines and columns count from 1, columns in UTF-16 code units.
 */
export class WgslError extends Error {
  override readonly name = 'WgslError'
  readonly code = 'compilation'
  readonly line: number
  readonly column: number
  readonly label: string
  readonly sourceLine: string
  /** The message's text alone, without place and source line. */
  readonly text: string

  constructor(text: string, place: WgslErrorPlace) {
    const { label, line, column, sourceLine } = place
    const caret = `${sourceLine.slice(0, column - 1).replace(/[^\t]/g, ' ')}^`
    super(`${label}:${line}:${column}: ${text}\n${sourceLine}\n${caret}`)
    this.text = text
    this.line = line
    this.column = column
    this.label = label
    this.sourceLine = sourceLine
  }
}
