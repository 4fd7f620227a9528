/** A bracket, a separator, or a run of other characters without spaces. */
interface Token {
  readonly text: string
  readonly from: number
  readonly to: number
  /** The index of the closing bracket for an opening one, and of the token itself for others. */
  end: number
}

/** The indices of the first and last token of a part of the text. */
interface Part {
  readonly first: number
  readonly last: number
}

const operators = /^(?:[-+*/%&|^<>=!]=?|&&|\|\||<<|>>)$/

/**
 * WGSL texts that are smaller than a source by one change, the smallest first: without a declaration or a run of
 * statements, without the condition or loop around a block, and with an operand, an argument or a literal in place of
 * an operation or call. Indices stay as they are, so that invocations keep their own elements. Not all are valid.
 */
export function smallerSources(source: string): string[] {
  const tokens = tokensOf(source)
  const results = new Set<string>()
  const replace = (first: number, last: number, text: string) => {
    const result = source.slice(0, tokens[first]!.from) + text + source.slice(tokens[last]!.to)
    if (result.length < source.length) results.add(result)
  }
  const textOf = (first: number, last: number) => source.slice(tokens[first]!.from, tokens[last]!.to)
  const withoutStatements = (from: number, end: number) => {
    const statements = statementsOf(tokens, from, end)
    for (let count = statements.length; count >= 1; count >>= 1)
      for (let i = 0; i + count <= statements.length; i += count)
        replace(statements[i]!.first, statements[i + count - 1]!.last, '')
  }
  withoutStatements(0, tokens.length)
  for (let at = 0; at < tokens.length; at++) {
    const { text, end } = tokens[at]!
    if (end === at) continue
    if (text === '[') {
      at = end
    } else if (text === '{') {
      withoutStatements(at + 1, end)
      let head = at
      while (head > 0 && !/^[;{}]$/.test(tokens[head - 1]!.text)) head--
      if (head < at) replace(head, end, textOf(at, end))
      else if (at + 1 < end) replace(at, end, textOf(at + 1, end - 1))
    } else {
      // The name of a function, or of a type.
      const head = at > 0 && /[\w>]$/.test(tokens[at - 1]!.text) ? at - 1 : at
      for (const argument of partsOf(tokens, at + 1, end, /^,$/)) {
        const operands = partsOf(tokens, argument.first, argument.last + 1, operators)
        for (const { first, last } of operands) {
          replace(head, end, `(${textOf(first, last)})`)
          replace(argument.first, argument.last, textOf(first, last))
        }
      }
      for (const literal of ['1u', '1i', '1f', '1h', 'true']) replace(head, end, literal)
    }
  }
  return [...results].sort((a, b) => a.length - b.length)
}

function tokensOf(source: string): Token[] {
  const tokens = Array.from(source.matchAll(/\/\/.*$|[{}()[\];,]|[^\s{}()[\];,]+/gm))
    .filter(([text]) => !text.startsWith('//'))
    .map(({ 0: text, index }, end) => ({ text, from: index, to: index + text.length, end }))
  const open: Token[] = []
  for (const [at, token] of tokens.entries()) {
    if (/^[{([]$/.test(token.text)) open.push(token)
    else if (/^[})\]]$/.test(token.text) && open.length > 0) open.pop()!.end = at
  }
  return tokens
}

/** The statements or declarations of the tokens from `from` to before `end`. */
function statementsOf(tokens: readonly Token[], from: number, end: number): Part[] {
  const parts: Part[] = []
  let first = from
  for (let at = from; at < end; at++) {
    const { text } = tokens[at]!
    at = tokens[at]!.end
    if (text !== ';' && (text !== '{' || tokens[at + 1]?.text === 'else')) continue
    parts.push({ first, last: at })
    first = at + 1
  }
  return parts
}

/** The parts between separators of the tokens from `from` to before `end`. */
function partsOf(tokens: readonly Token[], from: number, end: number, separators: RegExp): Part[] {
  const parts: Part[] = []
  let first = from
  for (let at = from; at <= end; at++) {
    if (at === end || separators.test(tokens[at]!.text)) {
      if (first < at) parts.push({ first, last: at - 1 })
      first = at + 1
    }
    at = tokens[at]?.end ?? at
  }
  return parts
}
