/** The position of an error, and its source. */
export interface WgslErrorPlace {
  readonly line: number
  readonly column: number
  readonly label: string
  /** The text of the line. */
  readonly sourceLine: string
}

/**
 * A warning that the language requires for a source that compiles. Lines and columns count as in `WgslError`.
 */
export interface WgslWarning {
  /** As set by the source's `diagnostic` filters. */
  readonly severity: 'warning' | 'info'
  readonly text: string
  readonly line: number
  readonly column: number
}

/** The maximum number of characters of a source line in a message, and of the message's own text. */
const maximumLineLength = 160
const maximumTextLength = 600

/**
 * A WGSL source that does not compile. The message reads `label:line:column: text`, then the source line with
 * a caret. A line above 160 characters is shortened to the part around the column. Lines and columns count
 * from 1, columns in UTF-16 code units.
 */
export class WgslError extends Error {
  override readonly name = 'WgslError'
  readonly code = 'compilation'
  readonly line: number
  readonly column: number
  readonly label: string
  readonly sourceLine: string
  /** The message's text without position and source line, truncated to 600 characters. */
  readonly text: string

  constructor(text: string, place: WgslErrorPlace) {
    const { label, line, column, sourceLine } = place
    const shortText = text.length <= maximumTextLength ? text : `${text.slice(0, maximumTextLength)}…`
    const { excerpt, before } = excerptOf(sourceLine, column - 1)
    const caret = `${excerpt.slice(0, before).replace(/[^\t]/g, ' ')}^`
    super(`${label}:${line}:${column}: ${shortText}\n${excerpt}\n${caret}`)
    this.text = shortText
    this.line = line
    this.column = column
    this.label = label
    this.sourceLine = sourceLine
  }
}

/** The part of a line around a position, and the number of its characters before the position. */
function excerptOf(line: string, position: number): { excerpt: string; before: number } {
  if (line.length <= maximumLineLength) return { excerpt: line, before: position }
  const start = Math.max(0, Math.min(position - maximumLineLength / 2, line.length - maximumLineLength))
  const head = start > 0 ? '…' : ''
  const tail = start + maximumLineLength < line.length ? '…' : ''
  const excerpt = `${head}${line.slice(start, start + maximumLineLength)}${tail}`
  return { excerpt, before: position - start + head.length }
}
