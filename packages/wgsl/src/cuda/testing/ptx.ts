/** The instructions of a kernel's PTX. */
export interface PtxKernel {
  readonly instructions: readonly Instruction[]
  /** The index of the instruction after each label. */
  readonly labels: ReadonlyMap<string, number>
}

interface Instruction {
  /** The predicate that controls its execution; `when` is the value that it must have. */
  readonly predicate: string | undefined
  readonly when: boolean
  /** Its name and its modifiers; the type comes last. */
  readonly words: readonly string[]
  readonly operands: readonly string[]
}

/** The value of an operand: the bits of an integer or a float, or a predicate. */
type Register = bigint | boolean

/** Reads the kernels in the PTX of nvcc, by name. */
export function parsePtx(text: string): Map<string, PtxKernel> {
  const kernels = new Map<string, PtxKernel>()
  for (const [, name, body] of text.matchAll(/\.visible \.entry (\w+)\([^)]*\)[^{]*\{(.*?)\n\}/gs)) {
    const instructions: Instruction[] = []
    const labels = new Map<string, number>()
    for (const part of body!.replace(/\/\/.*$/gm, '').split(/[;\n]/)) {
      const line = part.trim()
      const label = /^(\$\w+):$/.exec(line)
      if (label !== null) labels.set(label[1]!, instructions.length)
      const instruction = /^(?:@(!?)(%p\d+)\s+)?([a-z][\w.]*)\s*(.*)$/.exec(line)
      if (instruction === null) continue
      const [, not, predicate, opcode, rest] = instruction
      const operands = rest!.match(/\{[^}]*\}|[^,\s][^,]*/g)?.map((o) => o.trim()) ?? []
      instructions.push({ predicate, when: not !== '!', words: opcode!.split('.'), operands })
    }
    kernels.set(name!, { instructions, labels })
  }
  return kernels
}

/** An invocation of a kernel's PTX. */
export interface PtxInvocation {
  /** The kernel's parameters by name, pointers being offsets into `memory`. */
  readonly parameters: ReadonlyMap<string, bigint>
  readonly memory: DataView
  /** The invocation's place in its block, in x; at most 31. */
  readonly thread: number
}

/**
 * Runs the PTX of one invocation with its own memory. Supports integers, f32, predicates and atomic additions,
 * but no barriers or calls. Throws for unknown instructions, and after `mostSteps` instructions.
 */
export function runPtx(kernel: PtxKernel, invocation: PtxInvocation, mostSteps: number): void {
  const { instructions, labels } = kernel
  const { memory, parameters, thread } = invocation
  const registers = new Map<string, Register>()
  const bits = (operand: string): bigint => {
    if (operand === '%tid.x' || operand === '%laneid') return BigInt(thread)
    if (/^-?\d/.test(operand) && !operand.startsWith('0f')) return BigInt(operand)
    if (operand.startsWith('0f')) return BigInt(`0x${operand.slice(2)}`)
    const value = registers.get(operand)
    if (typeof value !== 'bigint') throw new TypeError(`${operand} holds no number`)
    return value
  }
  const holds = (operand: string): boolean => {
    const value = registers.get(operand)
    return typeof value === 'boolean' ? value : bits(operand) !== 0n
  }
  const address = (operand: string): number => {
    const [, base, offset] = /^\[(.+?)(?:\+(-?\d+))?\]$/.exec(operand)!
    return Number(BigInt.asUintN(64, bits(base!) + BigInt(offset ?? 0)))
  }
  let next = 0
  for (let steps = 0; next < instructions.length; steps++) {
    if (steps === mostSteps) throw new RangeError(`the kernel takes more than ${mostSteps} instructions`)
    const { predicate, when, words, operands } = instructions[next++]!
    if (predicate !== undefined && holds(predicate) !== when) continue
    const [name, modifier] = words
    const type = words.at(-1)!
    const [to, ...from] = operands as [string, ...string[]]
    const number = (i: number) => numberOf(bits(from[i]!), type)
    switch (name) {
      case 'ret':
        return
      case 'bra':
        next = labels.get(to)!
        break
      case 'ld':
        if (modifier === 'param') registers.set(to, parameters.get(from[0]!.slice(1, -1))!)
        else registers.set(to, BigInt(memory.getUint32(address(from[0]!), true)))
        break
      case 'st':
        memory.setUint32(address(to), Number(BigInt.asUintN(32, bits(from[0]!))), true)
        break
      case 'atom': {
        if (words[2] !== 'add') throw new TypeError(`no atomic ${words[2]}`)
        const at = address(from[0]!)
        const old = memory.getUint32(at, true)
        memory.setUint32(at, Number(BigInt.asUintN(32, BigInt(old) + bits(from[1]!))), true)
        registers.set(to, BigInt(old))
        break
      }
      case 'setp':
        registers.set(to, compare(modifier!, number(0), number(1)))
        break
      case 'selp':
        registers.set(to, bits(from[holds(from[2]!) ? 0 : 1]!))
        break
      case 'cvt':
        registers.set(to, bitsOf(numberOf(bits(from[0]!), type), words.at(-2)!))
        break
      case 'mul':
      case 'mad': {
        const product = (number(0) as bigint) * (number(1) as bigint)
        const result = modifier === 'hi' ? product >> 32n : product
        const width = modifier === 'wide' ? 'u64' : type
        registers.set(to, bitsOf(name === 'mul' ? result : result + bits(from[2]!), width))
        break
      }
      default:
        registers.set(
          to,
          type === 'pred'
            ? logical(name!, from.map(holds))
            : bitsOf(arithmetic(words, from.map((_, i) => number(i)) as bigint[], type), type),
        )
    }
  }
}

/** The value of bits as a type: a number for a float, otherwise a bigint. */
function numberOf(bits: bigint, type: string): bigint | number {
  if (type === 'f32') {
    const view = new DataView(new ArrayBuffer(4))
    view.setUint32(0, Number(bits))
    return view.getFloat32(0)
  }
  const width = Number(type.slice(1))
  return type.startsWith('s') ? BigInt.asIntN(width, bits) : BigInt.asUintN(width, bits)
}

function bitsOf(value: bigint | number, type: string): bigint {
  if (type !== 'f32') return BigInt.asUintN(Number(type.slice(1)), BigInt(value))
  const view = new DataView(new ArrayBuffer(4))
  view.setFloat32(0, Number(value))
  return BigInt(view.getUint32(0))
}

/** A comparison. On floats, one that ends in `u` is true if either operand is NaN. */
function compare(how: string, a: bigint | number, b: bigint | number): boolean {
  if (Number.isNaN(a) || Number.isNaN(b)) return how.endsWith('u')
  switch (how.slice(0, 2)) {
    case 'eq':
      return a === b
    case 'ne':
      return a !== b
    case 'lt':
      return a < b
    case 'le':
      return a <= b
    case 'gt':
      return a > b
    case 'ge':
      return a >= b
    default:
      throw new TypeError(`no comparison ${how}`)
  }
}

function logical(name: string, [a, b]: readonly boolean[]): boolean {
  if (name === 'mov') return a!
  if (name === 'not') return !a
  if (name === 'and') return a! && b!
  if (name === 'or') return a! || b!
  if (name === 'xor') return a !== b
  throw new TypeError(`no ${name} of predicates`)
}

function arithmetic([name]: readonly string[], [a, b]: readonly bigint[], type: string): bigint | number {
  switch (name) {
    case 'mov':
    case 'cvta':
      return a!
    case 'add':
      return a! + b!
    case 'sub':
      return a! - b!
    case 'and':
      return a! & b!
    case 'or':
      return a! | b!
    case 'xor':
      return a! ^ b!
    case 'not':
      return ~a!
    case 'neg':
      return -a!
    case 'min':
      return a! < b! ? a! : b!
    case 'max':
      return a! > b! ? a! : b!
    case 'shl':
      return b! > 63n ? 0n : a! << b!
    case 'shr':
      return a! >> (b! > 63n ? 63n : b!)
    default:
      throw new TypeError(`no instruction ${name} of ${type}`)
  }
}
