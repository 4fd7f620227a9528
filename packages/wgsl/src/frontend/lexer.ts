import type { SourceText } from '../source-text.ts'

/** The kind of a token; template brackets are symbols with the texts `⟨` and `⟩`. */
export type TokenKind = 'word' | 'number' | 'symbol' | 'end'

/** A token; `at` is its offset in the source. */
export interface Token {
  kind: TokenKind
  text: string
  at: number
}

/** The texts of template list brackets, which distinguish them from the operators `<` and `>`. */
export const templateOpen = '⟨'
export const templateClose = '⟩'

/**
 * Groups: white space; the start of a comment; a word; a number; a symbol. The groups are unnamed because named
 * groups double the time.
 */
const pattern =
  /([ \t\n\v\f\r\u0085\u200e\u200f\u2028\u2029]+)|(\/[/*])|((?:_[\p{XID_Continue}]+|\p{XID_Start}[\p{XID_Continue}]*|_))|(0[xX](?:[\da-fA-F]*\.[\da-fA-F]+|[\da-fA-F]+\.?)[pP][+-]?\d+[fh]?|0[xX](?:[\da-fA-F]*\.[\da-fA-F]+|[\da-fA-F]+\.)|0[xX][\da-fA-F]+[iu]?|\d+[eE][+-]?\d+[fh]?|(?:\d*\.\d+|\d+\.\d*)(?:[eE][+-]?\d+)?[fh]?|\d+[fh]|(?:0|[1-9]\d*)[iu]?)|(<<=|<<|<=|==|!=|&&|\|\||\+\+|->|\+=|-=|\*=|\/=|%=|&=|\|=|\^=|[-+*/%&|^!~<>=(){}[\],.:;@])/uy

/**
 * Characters that identifiers may have since a version above Unicode 14, which WGSL uses: those of Unicode 17
 * and, between them, characters that no identifier has.
 */
const laterRanges = `88f-897 c5c cdc cf3 ece 1acf-1aeb 1c89-1c8a 200c-200d 30fb a7cb-a7cf a7d2 a7d4 a7da-a7f1
  ff65 105c0-105f3 10940-10959 10d40-10d85 10ec2-10eff 1123f-11241 11380-113e2 116d0-116e3 11b60-11bf9 11db0-11de9
  11f00-11f5a 1342f-143fa 16100-16139 16d40-16d79 16ea0-16ed3 16ff2-16ff6 187f8-187ff 18cff 18d09-18df2 1b132
  1b155 1ccf0-1ccf9 1df25-1df2a 1e030-1e08f 1e4d0-1e6ff 2b739-2b73f 2cea2-2cead 2ebf0-2ee5d 31350-e00ff`
const later = new RegExp(`[${laterRanges.replace(/[\da-f]+/g, '\\u{$&}').replace(/\s+/g, '')}]`, 'u')

/**
 * The tokens of a source, followed by an `end` token. `--` is two tokens, since an expression treats it as
 * two minus signs.
 */
export function tokenize(source: SourceText): Token[] {
  const { text } = source
  const zero = text.indexOf('\0')
  if (zero >= 0) throw source.error(zero, 'a source must not contain the character U+0000')
  const tokens: Token[] = []
  const hasLater = later.test(text)
  pattern.lastIndex = 0
  let at = 0
  while (at < text.length) {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match === null) throw unknownCharacter(source, at)
    const end = pattern.lastIndex
    if (match[2] !== undefined) {
      at = match[2] === '//' ? source.endOfLine(at) : endOfBlockComment(source, at)
      continue
    }
    if (match[1] === undefined) {
      const kind = match[3] !== undefined ? 'word' : match[4] !== undefined ? 'number' : 'symbol'
      const value = match[0]
      if (kind === 'number' && /[\p{XID_Continue}]/u.test(text.charAt(end))) {
        throw source.error(at, `the number '${value}${text.charAt(end)}' is malformed`)
      }
      const unknown = hasLater && kind === 'word' ? value.search(later) : -1
      if (unknown >= 0) throw unknownCharacter(source, at + unknown)
      tokens.push({ kind, text: value, at })
    }
    at = end
  }
  tokens.push({ kind: 'end', text: 'the end of the source', at: text.length })
  return joinGreater(discoverTemplates(tokens))
}

function unknownCharacter(source: SourceText, at: number): Error {
  const character = String.fromCodePoint(source.text.codePointAt(at)!)
  return source.error(at, `the character ${JSON.stringify(character)} is not part of WGSL`)
}

function endOfBlockComment(source: SourceText, start: number): number {
  const delimiter = /\/\*|\*\//g
  delimiter.lastIndex = start + 2
  let depth = 1
  for (let match = delimiter.exec(source.text); match !== null; match = delimiter.exec(source.text)) {
    depth += match[0] === '/*' ? 1 : -1
    if (depth === 0) return delimiter.lastIndex
  }
  throw source.error(start, 'the block comment does not end')
}

const assigns = new Set(['=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<='])

/** Marks template brackets (WGSL, "Template List Discovery"). Every `>` is a separate token at this stage. */
function discoverTemplates(tokens: Token[]): Token[] {
  let pending: { index: number; depth: number }[] = []
  let depth = 0
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!
    if (token.kind === 'word') {
      if (tokens[i + 1]?.text === '<') {
        pending.push({ index: i + 1, depth })
        i++
      }
      continue
    }
    if (token.kind !== 'symbol') continue
    switch (token.text) {
      case '>': {
        const top = pending.at(-1)
        if (top !== undefined && top.depth === depth) {
          tokens[top.index]!.text = templateOpen
          token.text = templateClose
          pending.pop()
        } else if (isAdjacent(token, tokens[i + 1], '=')) {
          i++
        }
        break
      }
      case '(':
      case '[':
        depth++
        break
      case ')':
      case ']':
        while (pending.length > 0 && pending.at(-1)!.depth >= depth) pending.pop()
        depth = Math.max(0, depth - 1)
        break
      case ';':
      case '{':
      case ':':
        depth = 0
        pending = []
        break
      case '&&':
      case '||':
        while (pending.length > 0 && pending.at(-1)!.depth >= depth) pending.pop()
        break
      default:
        if (assigns.has(token.text)) {
          depth = 0
          pending = []
        }
    }
  }
  return tokens
}

function isAdjacent(token: Token, next: Token | undefined, text: string): boolean {
  return next !== undefined && next.text === text && next.at === token.at + token.text.length
}

const joinedGreater = new Set(['>>', '>=', '>>='])

/** Joins the remaining `>` tokens into `>>`, `>=` and `>>=`. */
function joinGreater(tokens: Token[]): Token[] {
  const joined: Token[] = []
  for (const token of tokens) {
    const last = joined.at(-1)
    const longer = last?.text.startsWith('>') ? `${last.text}${token.text}` : ''
    if (joinedGreater.has(longer) && isAdjacent(last!, token, token.text)) last!.text = longer
    else joined.push(token)
  }
  return joined
}
