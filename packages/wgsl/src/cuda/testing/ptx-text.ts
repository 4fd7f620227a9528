/** A variable of a PTX module or function, and the parameters of calls, which live in memory here. */
export interface PtxVariable {
  readonly name: string
  readonly space: string
  readonly alignment: number
  /** 0 if it takes what the launch gives (`extern .shared`). */
  readonly byteLength: number
  /** Values of the first elements, each of `elementByteLength` bytes. */
  readonly values: readonly bigint[]
  readonly elementByteLength: number
}

export interface PtxInstruction {
  /** The register of the predicate, without `%`, and the value that it must have. */
  readonly predicate: string | undefined
  readonly when: boolean
  /** The opcode, divided at its dots: `ld`, `global`, `u32`. */
  readonly words: readonly string[]
  readonly operands: readonly string[]
}

export type PtxStatement = { readonly label: string } | PtxInstruction | { readonly variable: PtxVariable }

export interface PtxFunction {
  readonly name: string
  readonly parameters: readonly PtxVariable[]
  readonly result: PtxVariable | undefined
  readonly statements: readonly PtxStatement[]
}

export interface PtxModule {
  readonly functions: ReadonlyMap<string, PtxFunction>
  readonly variables: readonly PtxVariable[]
}

/** Reads nvcc's PTX. */
export function parsePtx(text: string): PtxModule {
  const functions = new Map<string, PtxFunction>()
  const variables: PtxVariable[] = []
  const source = text
    .replace(/\/\/.*$/gm, '')
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/^\s*\.(version|target|address_size|file|loc|section)\b.*$/gm, '')
  const head =
    /\s*(?:(?:\.visible|\.weak|\.extern)\s+)?(?:\.(?:entry|func)\s*(?:\(([^)]*)\))?\s*([\w$]+)\s*(?:\(([^)]*)\))?([^;{]*)([;{])|(\.(?:global|const|shared)\b[^;]*);)/y
  for (let at = 0; source.slice(at).trim() !== ''; ) {
    head.lastIndex = at
    const found = head.exec(source)
    if (found === null) throw new SyntaxError(`unknown PTX: ${source.slice(at, at + 80).trim()}`)
    const [, result, name, parameters = '', , opening, variable] = found
    at = head.lastIndex
    if (variable !== undefined) variables.push(parseVariable(variable))
    if (opening !== '{') continue
    const end = closingBrace(source, at)
    functions.set(name!, {
      name: name!,
      parameters: parameters.split(',').filter(isNotBlank).map(parseVariable),
      result: result === undefined ? undefined : parseVariable(result),
      statements: parseStatements(source.slice(at, end)),
    })
    at = end + 1
  }
  return { functions, variables }
}

const isNotBlank = (text: string) => text.trim() !== ''

/** The place of the brace that closes the one before `from`. */
function closingBrace(text: string, from: number): number {
  for (let at = from, depth = 1; at < text.length; at++) {
    if (text[at] === '{') depth++
    if (text[at] === '}' && --depth === 0) return at
  }
  throw new SyntaxError('a brace is not closed')
}

function parseVariable(text: string): PtxVariable {
  const found =
    /^\s*\.(\w+)(?:\s+\.align\s+(\d+))?(?:\s+\.attribute\([^)]*\))?\s+\.(\w)(\d+)(?:\s+\.ptr[.\w\s]*)?\s+([\w$]+)(\[(\d*)\])?\s*(?:=\s*\{?([^}]*)\}?)?\s*$/.exec(
      text,
    )
  if (found === null) throw new SyntaxError(`unknown variable: ${text.trim()}`)
  const [, space, alignment, , bits, name, brackets, count = '', values = ''] = found
  const elementByteLength = Number(bits) / 8
  return {
    name: name!,
    space: space!,
    alignment: Number(alignment ?? elementByteLength),
    byteLength: elementByteLength * (brackets === undefined ? 1 : Number(count)),
    values: values.split(',').filter(isNotBlank).map(literal),
    elementByteLength,
  }
}

/** The bits of a literal. */
export function literal(text: string): bigint {
  const word = text.trim()
  if (/^0[fFdD]/.test(word)) return BigInt(`0x${word.slice(2)}`)
  const digits = word.replace(/U$/, '')
  return digits.startsWith('-') ? -BigInt(digits.slice(1)) : BigInt(digits)
}

function parseStatements(body: string): PtxStatement[] {
  const statements: PtxStatement[] = []
  // Braces that stand alone enclose blocks; those after an opcode, a vector.
  const pieces = body.match(/\s*[$\w]+:(?!:)|(?:[^;{}:]|\{[^;{}]*\})*;|[{}]/g) ?? []
  for (const piece of pieces) {
    const text = piece.replace(/;$/, '').trim().replace(/\s+/g, ' ')
    if (text === '' || text === '{' || text === '}') continue
    if (text.endsWith(':')) statements.push({ label: text.slice(0, -1) })
    else if (/^\.(local|param|shared)\b/.test(text)) statements.push({ variable: parseVariable(text) })
    else if (!text.startsWith('.')) statements.push(parseInstruction(text))
    else if (!/^\.(reg|pragma|loc)\b/.test(text)) throw new SyntaxError(`unknown directive: ${text}`)
  }
  return statements
}

function parseInstruction(text: string): PtxInstruction {
  const found = /^(?:@(!?)%(\w+) )?([a-z]\w*(?:(?:\.|::)\w+)*) ?(.*)$/.exec(text)
  if (found === null) throw new SyntaxError(`unknown instruction: ${text}`)
  const [, not, predicate, opcode, rest] = found
  const operands = rest!.match(/(?:\{[^}]*\}|\([^)]*\)|\[[^\]]*\]|[^,\s{([][^,]*)/g) ?? []
  return { predicate, when: not !== '!', words: opcode!.split('.'), operands: operands.map((o) => o.trim()) }
}
