/** Where in which source an error lies. */
export interface WgslErrorPlace {
  readonly line: number
  readonly column: number
  readonly label: string
  /** The text of the line. */
  readonly sourceLine: string
}

/**
 * What the language asks to be said of a source that compiles. Lines and columns count as those of
 * `WgslError`.
 */
export interface WgslWarning {
  /** As the source's `diagnostic` filters have it. */
  readonly severity: 'warning' | 'info'
  readonly text: string
  readonly line: number
  readonly column: number
}

/** How many characters of a source line a message shows at most, and of what the message says itself. */
const maximumLineLength = 160
const maximumTextLength = 600

/**
 * A WGSL source that does not compile. The message reads `label:line:column: text`, then the source line with
 * a caret; of a line above 160 characters, the part around the column. Lines and columns count from 1,
 * columns in UTF-16 code units.
 */
export class WgslError extends Error {
  override readonly name = 'WgslError'
  readonly code = 'compilation'
  readonly line: number
  readonly column: number
  readonly label: string
  readonly sourceLine: string
  /** The message's text alone, without place and source line; cut at 600 characters. */
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

/** The part of a line around a position, and how many of its characters stand before the position. */
function excerptOf(line: string, position: number): { excerpt: string; before: number } {
  if (line.length <= maximumLineLength) return { excerpt: line, before: position }
  const start = Math.max(0, Math.min(position - maximumLineLength / 2, line.length - maximumLineLength))
  const head = start > 0 ? '…' : ''
  const tail = start + maximumLineLength < line.length ? '…' : ''
  const excerpt = `${head}${line.slice(start, start + maximumLineLength)}${tail}`
  return { excerpt, before: position - start + head.length }
}
