import { comparedFloats, isFirstFloat, withRange } from './float-ranges.ts'
import type { PtxInstruction } from './ptx-instructions.ts'
import {
  absolute,
  and,
  between,
  bitsOfFloat,
  bitwise,
  compared,
  complement,
  countOfOnes,
  difference,
  either,
  extreme,
  type Fact,
  fact,
  firstBit,
  isFirstExtreme,
  isLiteral,
  isNegative,
  isPositive,
  isZero,
  leadingZeros,
  literal,
  maskOf,
  mostOf,
  negation,
  or,
  product,
  quotient,
  remainder,
  resized,
  reversed,
  type Shift,
  shifted,
  shiftedBy,
  sum,
  unknown,
  xor,
} from './value-facts.ts'

/** What is known of an operand, taken for one of so many bits. */
export type FactOf = (operand: string, bits: number) => Fact

type Rule = (operation: Operation) => Fact

/** What follows from an instruction and from what is known of its operands. */
export class Operation {
  readonly instruction: PtxInstruction
  readonly types: readonly string[]
  /** The width of the last type, which most operands have. */
  readonly bits: number
  readonly isSigned: boolean
  readonly #rule: Rule | undefined
  #factOf: FactOf = (_, bits) => unknown(bits)

  constructor(instruction: PtxInstruction) {
    this.instruction = instruction
    this.types = typesOf(instruction)
    this.bits = bitsOf(this.types.at(-1))
    this.isSigned = this.types[0]?.startsWith('s') === true
    this.#rule = rules[instruction.name]
  }

  has(modifier: RegExp): boolean {
    return modifier.test(this.instruction.modifiers)
  }

  operand(at: number, bits = this.bits): Fact {
    const text = this.instruction.inputs[at]
    if (text === undefined) return unknown(bits)
    return text.startsWith('!') ? complement(this.#factOf(text.slice(1), bits)) : this.#factOf(text, bits)
  }

  /** The operands of `mov.b64 %rd1, {%r1, %r2}`. */
  packed(): Fact {
    const parts = registersOf(this.instruction.inputs[0]!)
    const width = this.bits / parts.length
    return parts
      .map((part, at) => shiftedBy(resized(this.#factOf(part, width), this.bits, false), at * width, 'left'))
      .reduce(or)
  }

  /** What is known of the results, in their order. */
  results(factOf: FactOf): Fact[] {
    const { name, results } = this.instruction
    this.#factOf = factOf
    if (this.#rule === undefined) return results.map(() => this.#withRange(unknown(bitsOf(this.types[0]))))
    if (name === 'mov' && results.length > 1) {
      const width = this.bits / results.length
      const whole = this.operand(0)
      return results.map((_, at) => resized(shiftedBy(whole, at * width, 'right'), width, false))
    }
    const first = this.#rule(this)
    if (results.length === 1) return [this.#withRange(first)]
    if (name === 'setp') return [first, comparison(this, true)]
    return results.map((_, at) => (at === 0 ? first : unknown(name === 'shfl' ? 1 : first.bits)))
  }

  #isFloat32(): boolean {
    return this.types[0] === 'f32' && this.types.at(-1) === 'f32'
  }

  #withRange(result: Fact): Fact {
    if (!this.#isFloat32()) return result
    const { name, modifiers, inputs } = this.instruction
    return withRange(
      result,
      name,
      modifiers,
      inputs.map((_, at) => this.operand(at)),
    )
  }

  /** The operand whose value the only result has, if what is known of the others says so. */
  copied(factOf: FactOf): string | undefined {
    const { name, modifiers, results, inputs } = this.instruction
    const [first, second] = inputs
    if (results.length !== 1 || first === undefined) return undefined
    this.#factOf = factOf
    if (!isFloat(this.types.at(-1))) return copies[name]?.(this, first, second ?? first)
    if (!this.#isFloat32()) return undefined
    const operands = inputs.map((_, at) => this.operand(at))
    const isFirst = isFirstFloat(name, modifiers, operands)
    return isFirst === undefined ? undefined : isFirst ? first : second
  }
}

const isFloat = (type: string | undefined): boolean => type !== undefined && /f/.test(type)

const knownTypes = new Map<string, readonly string[]>()

function typesOf({ modifiers }: PtxInstruction): readonly string[] {
  const known = knownTypes.get(modifiers)
  if (known !== undefined) return known
  const types = [...modifiers.matchAll(/\.(pred|[busf](?:8|16|32|64)|b?f16(?:x2)?|tf32|b128)\b/g)].map(
    (match) => match[1]!,
  )
  knownTypes.set(modifiers, types)
  return types
}

function bitsOf(type: string | undefined): number {
  if (type === undefined || type === 'tf32' || type.endsWith('x2')) return 32
  return type === 'pred' ? 1 : Number(/\d+/.exec(type)![0])
}

function registersOf(operand: string): string[] {
  return operand.match(/[^{},\s][^{},]*/g) ?? []
}

/** The full product, of twice as many bits. */
function wideProduct({ operand, bits, isSigned }: Pick<Operation, 'bits' | 'isSigned' | 'operand'>): Fact {
  const [a, b] = [operand(0), operand(1)].map((value) => resized(value, 2 * bits, isSigned))
  return product(a!, b!)
}

function productOf(operation: Operation): Fact {
  const { bits, isSigned } = operation
  const wide = () => wideProduct({ bits, isSigned, operand: (at) => operation.operand(at) })
  if (operation.has(/\.wide/)) return wide()
  if (operation.has(/\.hi/))
    return resized(shiftedBy(wide(), bits, isSigned ? 'signed' : 'right'), bits, false)
  return product(operation.operand(0), operation.operand(1))
}

function shiftOf(operation: Operation, shift: Shift): Fact {
  return shifted(operation.operand(0), operation.operand(1, 32), shift)
}

/** Bits of two registers, by a literal. */
function funnelShift(operation: Operation): Fact {
  const count = operation.operand(2)
  if (!isLiteral(count)) return unknown(32)
  const by = Number(operation.has(/\.wrap/) ? count.ones & 31n : count.ones < 32n ? count.ones : 32n)
  const both = joined(operation.operand(0), operation.operand(1))
  return operation.has(/\.l\b/)
    ? resized(shiftedBy(shiftedBy(both, by, 'left'), 32, 'right'), 32, false)
    : resized(shiftedBy(both, by, 'right'), 32, false)
}

/** Two registers of 32 bits as one. */
function joined(low: Fact, high: Fact): Fact {
  return or(resized(low, 64, false), shiftedBy(resized(high, 64, false), 32, 'left'))
}

function fieldOf(operation: Operation): Fact {
  const { bits, isSigned } = operation
  const [from, position, width] = [operation.operand(0), operation.operand(1, 32), operation.operand(2, 32)]
  const most = Number(mostOf(width))
  if (!isLiteral(position) || !isLiteral(width))
    return isSigned || most >= bits ? unknown(bits) : between(bits, 0n, maskOf(most))
  const at = Number(position.ones & 255n)
  const count = Number(width.ones & 255n)
  const shift = isSigned ? 'signed' : 'right'
  if (count === 0) return literal(bits, 0n)
  if (at + count > bits) return shiftedBy(from, at, shift)
  return shiftedBy(shiftedBy(from, bits - at - count, 'left'), bits - count, shift)
}

function insertedField(operation: Operation): Fact {
  const { bits } = operation
  const [field, into, position, width] = [
    operation.operand(0),
    operation.operand(1),
    operation.operand(2, 32),
    operation.operand(3, 32),
  ]
  if (!isLiteral(position) || !isLiteral(width)) return unknown(bits)
  const at = Number(position.ones & 255n)
  const mask = literal(bits, at < bits ? maskOf(Number(width.ones & 255n)) << BigInt(at) : 0n)
  return or(and(into, complement(mask)), and(shiftedBy(field, at, 'left'), mask))
}

function permutedBytes(operation: Operation): Fact {
  const selectors = operation.operand(2)
  if (!isLiteral(selectors) || operation.has(/\.(?:[fb]4e|rc8|ec[lr]|rc16)/)) return unknown(32)
  const both = joined(operation.operand(0), operation.operand(1))
  return [0, 1, 2, 3]
    .map((at) => {
      const selector = Number((selectors.ones >> BigInt(4 * at)) & 15n)
      const byte = resized(shiftedBy(both, 8 * (selector & 7), 'right'), 8, false)
      const value = selector & 8 ? shiftedBy(byte, 7, 'signed') : byte
      return shiftedBy(resized(value, 32, false), 8 * at, 'left')
    })
    .reduce(or)
}

function selected(condition: Fact, a: Fact, b: Fact): Fact {
  if (!isLiteral(condition)) return either(a, b)
  return condition.ones === 1n ? a : b
}

const truth = (is: boolean | undefined): Fact => (is === undefined ? unknown(1) : literal(1, is ? 1n : 0n))

const joins: Readonly<Record<string, (a: Fact, b: Fact) => Fact>> = { and, or, xor }

function comparison(operation: Operation, isOpposite: boolean): Fact {
  const [, operator = '', join = ''] = operation.instruction.modifiers.split('.')
  const type = operation.types.at(-1)
  const [a, b] = [operation.operand(0), operation.operand(1)]
  const isFixed = isFloat(type) && a.isFixed && b.isFixed
  const is = isFloat(type) ? comparedFloats(operator, a, b) : compared(operator, type!.startsWith('s'), a, b)
  const own = is === undefined && isFixed ? { ...unknown(1), isFixed } : truth(is)
  const result = isOpposite ? complement(own) : own
  return joins[join]?.(result, operation.operand(2, 1)) ?? result
}

function converted(operation: Operation): Fact {
  const [to = '', from = ''] = operation.types
  const bits = Math.max(16, bitsOf(to))
  const value = resized(operation.operand(0, Math.max(16, bitsOf(from))), bitsOf(from), false)
  if (isFloat(to)) {
    if (operation.has(/\.sat/) && to === 'f32') return between(32, 0n, 0x3f800000n)
    return isFloat(from) || to !== 'f32' ? unknown(bitsOf(to)) : floatOf(value, from.startsWith('s'))
  }
  if (isFloat(from) || operation.has(/\.sat/)) return resized(unknown(bitsOf(to)), bits, to.startsWith('s'))
  return resized(resized(value, bitsOf(to), from.startsWith('s')), bits, to.startsWith('s'))
}

/** The bits of an f32 of an integer. Larger positive floats are larger as integers too. */
function floatOf(value: Fact, isSigned: boolean): Fact {
  if (isSigned && isNegative(value)) return fact(32, 0n, 1n << 31n)
  return isSigned && !isPositive(value)
    ? unknown(32)
    : between(32, bitsOfFloat(Number(value.ones)), bitsOfFloat(Number(mostOf(value))))
}

/** Whether all four products of bytes are 0. */
function hasZeroFactor(operation: Operation): boolean {
  return isZero(operation.operand(0, 32)) || isZero(operation.operand(1, 32))
}

const floatSign = (bits: number): Fact => literal(bits, 1n << BigInt(bits - 1))

const ofIntegers =
  (rule: Rule): Rule =>
  (operation) =>
    isFloat(operation.types.at(-1)) ? unknown(operation.bits) : rule(operation)

const ofBoth =
  (of: (a: Fact, b: Fact) => Fact): Rule =>
  (operation) =>
    of(operation.operand(0), operation.operand(1))

const extremeOf = (isMaximum: boolean): Rule =>
  ofIntegers((operation) =>
    extreme(operation.operand(0), operation.operand(1), isMaximum, operation.isSigned),
  )

/** What is known of the results of instructions with one, by name. Of the results of others nothing is known. */
const rules: Readonly<Record<string, Rule>> = {
  abs: (operation) => {
    const value = operation.operand(0)
    return isFloat(operation.types.at(-1)) ? and(value, complement(floatSign(value.bits))) : absolute(value)
  },
  activemask: () => unknown(32),
  add: ofIntegers(ofBoth(sum)),
  and: ofBoth(and),
  bfe: fieldOf,
  bfi: insertedField,
  bfind: (operation) => {
    const value = operation.operand(0)
    const isShift = operation.has(/shiftamt/)
    if (!operation.isSigned) return firstBit(value, isShift)
    if (isPositive(value)) return firstBit(value, isShift)
    const found = firstBit(complement(value), isShift)
    return isNegative(value) ? found : either(between(32, 0n, BigInt(value.bits - 1)), literal(32, -1n))
  },
  brev: (operation) => reversed(operation.operand(0)),
  clz: (operation) => leadingZeros(operation.operand(0)),
  cvt: converted,
  div: ofIntegers((operation) => quotient(operation.operand(0), operation.operand(1), operation.isSigned)),
  dp4a: (operation) => (hasZeroFactor(operation) ? operation.operand(2, 32) : unknown(32)),
  ld: (operation) => {
    const type = operation.types.at(-1)!
    return resized(unknown(operation.bits), Math.max(32, operation.bits), type.startsWith('s'))
  },
  lop3: (operation) =>
    bitwise(
      Number(operation.instruction.inputs[3]),
      operation.operand(0),
      operation.operand(1),
      operation.operand(2),
    ),
  mad: ofIntegers((operation) => {
    const bits = operation.bits * (operation.has(/\.wide/) ? 2 : 1)
    return sum(productOf(operation), operation.operand(2, bits))
  }),
  max: extremeOf(true),
  min: extremeOf(false),
  mov: (operation) =>
    operation.instruction.inputs[0]!.startsWith('{') ? operation.packed() : operation.operand(0),
  mul: ofIntegers(productOf),
  neg: (operation) => {
    const value = operation.operand(0)
    return isFloat(operation.types.at(-1)) ? xor(value, floatSign(value.bits)) : negation(value)
  },
  not: (operation) => complement(operation.operand(0)),
  or: ofBoth(or),
  popc: (operation) => countOfOnes(operation.operand(0)),
  prmt: permutedBytes,
  redux: (operation) => {
    const value = operation.operand(0)
    if (!operation.has(/\.(?:and|max|min|or)/)) return unknown(value.bits)
    return operation.has(/\.m/) ? value : fact(value.bits, value.zeros, value.ones)
  },
  rem: ofIntegers((operation) => remainder(operation.operand(0), operation.operand(1), operation.isSigned)),
  sad: (operation) => {
    const [a, b] = [operation.operand(0), operation.operand(1)]
    const most = mostOf(a) > mostOf(b) ? mostOf(a) : mostOf(b)
    return sum(operation.isSigned ? unknown(a.bits) : between(a.bits, 0n, most), operation.operand(2))
  },
  selp: (operation) => selected(operation.operand(2, 1), operation.operand(0), operation.operand(1)),
  setp: (operation) => comparison(operation, false),
  shf: funnelShift,
  shfl: (operation) => operation.operand(0),
  shl: (operation) => shiftOf(operation, 'left'),
  shr: (operation) => shiftOf(operation, operation.isSigned ? 'signed' : 'right'),
  slct: (operation) => {
    const bits = bitsOf(operation.types[0])
    const [a, b] = [operation.operand(0, bits), operation.operand(1, bits)]
    const sign = operation.operand(2)
    return isFloat(operation.types[1])
      ? either(a, b)
      : selected(truth(compared('ge', true, sign, literal(sign.bits, 0n))), a, b)
  },
  sub: ofIntegers(ofBoth(difference)),
  testp: (operation) => {
    const { zeros } = operation.operand(0)
    const isSmall =
      (zeros & 0x7f800000n) !== 0n && operation.has(/\.(?:finite|infinite|notanumber|number)\.f32/)
    return isSmall ? truth(operation.has(/\.(?:finite|number)/)) : unknown(1)
  },
  vote: (operation) => {
    const value = operation.operand(0, 1)
    if (!operation.has(/ballot/)) return operation.has(/uni/) ? unknown(1) : value
    if (!isLiteral(value)) return unknown(32)
    return isZero(value) ? literal(32, 0n) : operation.operand(1, 32)
  },
  xor: ofBoth(xor),
}

/** For `copied`, by name. */
const copies: Readonly<
  Record<string, (operation: Operation, first: string, second: string) => string | undefined>
> = {
  abs: (operation, first) => (isPositive(operation.operand(0)) ? first : undefined),
  add: withZero,
  and: (operation, first, second) => {
    const [a, b] = [operation.operand(0), operation.operand(1)]
    if (isAll(a.zeros | b.ones, a)) return first
    return isAll(b.zeros | a.ones, a) ? second : undefined
  },
  bfe: (operation, first) => {
    const [value, position, width] = [
      operation.operand(0),
      operation.operand(1, 32),
      operation.operand(2, 32),
    ]
    if (!isZero(position) || !isLiteral(width) || isZero(width) || width.ones >= BigInt(value.bits))
      return undefined
    return mostOf(value) < 1n << (width.ones - (operation.isSigned ? 1n : 0n)) ? first : undefined
  },
  cvt: (operation, first) => {
    const [to = '', from = ''] = operation.types
    const [width, widest] = [Math.min(bitsOf(to), bitsOf(from)), Math.max(bitsOf(to), bitsOf(from))]
    if (isFloat(to) || widest > 32 || operation.has(/\.sat/)) return undefined
    const isSigned = width < 32 && (to + from).includes('s')
    return mostOf(operation.operand(0, 32)) <= maskOf(isSigned ? width - 1 : width) ? first : undefined
  },
  dp4a: (operation) => (hasZeroFactor(operation) ? operation.instruction.inputs[2] : undefined),
  max: extremeOperand,
  min: extremeOperand,
  mul: (operation, first) => {
    const factor = operation.operand(1)
    return operation.has(/^\.lo/) && isLiteral(factor) && factor.ones === 1n ? first : undefined
  },
  or: (operation, first, second) => {
    const [a, b] = [operation.operand(0), operation.operand(1)]
    if (isAll(a.ones | b.zeros, a)) return first
    return isAll(b.ones | a.zeros, a) ? second : undefined
  },
  selp: (operation, first, second) => {
    const condition = operation.operand(2, 1)
    if (!isLiteral(condition)) return undefined
    return condition.ones === 1n ? first : second
  },
  slct: (operation, first, second) => {
    const sign = operation.operand(2)
    if (isFloat(operation.types[1]) || !(isPositive(sign) || isNegative(sign))) return undefined
    return isPositive(sign) ? first : second
  },
  shl: (operation, first) => (isZero(operation.operand(1, 32)) ? first : undefined),
  shr: (operation, first) => (isZero(operation.operand(1, 32)) ? first : undefined),
  sub: (operation, first) => (isZero(operation.operand(1)) ? first : undefined),
  xor: withZero,
}

function withZero(operation: Operation, first: string, second: string): string | undefined {
  if (isZero(operation.operand(1))) return first
  return isZero(operation.operand(0)) ? second : undefined
}

function extremeOperand(operation: Operation, first: string, second: string): string | undefined {
  const [a, b] = [operation.operand(0), operation.operand(1)]
  const isFirst = isFirstExtreme(a, b, operation.instruction.name === 'max', operation.isSigned)
  if (isFirst === undefined) return undefined
  return isFirst ? first : second
}

const isAll = (bits: bigint, like: Fact): boolean => (bits & maskOf(like.bits)) === maskOf(like.bits)
