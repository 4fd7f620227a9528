import type { PtxInstruction, PtxKernel } from './ptx-instructions.ts'
import { type FloatRange, maskOf } from './value-facts.ts'

/** So many values may stand in a sum or in an expression of bits before it counts as a value of its own. */
const mostLeaves = 6

/** A sum of multiples of values, by their numbers. */
export interface Address {
  readonly factors: ReadonlyMap<number, bigint>
  readonly constant: bigint
}

/** A sum of multiples of registers. */
export interface Terms {
  readonly factors: readonly (readonly [string, bigint])[]
  readonly constant: bigint
}

/** A function of each bit of so many values, as a table of its results. */
interface Table {
  readonly leaves: readonly number[]
  readonly rows: bigint
}

/**
 * Numbers for the values of registers: registers with one number hold the same value. Sums and expressions of bits, and of
 * predicates, have one number however they are written.
 */
export class ValueNumbers {
  readonly #ids = new Map<string, number>()
  readonly #literals = new Map<number, bigint>()
  readonly #sums = new Map<number, Address>()
  readonly #tables = new Map<number, Table>()
  /** What values are packed of. The high word of an extended one is missing. */
  readonly #words = new Map<number, readonly (number | undefined)[]>()
  readonly #registers = new Map<string, number>()
  /** Registers that hold the same value in all invocations of a subgroup. */
  readonly #uniform = new Set<string>()
  readonly #holders = new Map<number, string>()
  readonly #variables = new Set<number>()
  /** The most that minimums with literals can be, and maximums with literals that are not negative. */
  readonly #limits = new Map<number, bigint>()
  readonly #positive = new Set<number>()

  /**
   * @param copied - By register, the operand whose value it is, where that is known.
   */
  constructor(kernel: PtxKernel, copied: ReadonlyMap<string, string> = new Map()) {
    for (const [index, instruction] of kernel.instructions.entries()) {
      for (const [at, target] of instruction.results.entries()) {
        const operand = copied.get(target)
        const definitions = kernel.definitions.get(target)
        if (definitions === undefined) continue
        if (definitions.length === 1 && instruction.condition === undefined) {
          if (isUniform(instruction, this.#uniform)) this.#uniform.add(target)
          this.#hold(target, operand === undefined ? this.#number(instruction, at) : this.of(operand))
        } else if (index === definitions.at(-1)) {
          // Branches that set it to one value.
          const origins = definitions.map((i) => kernel.instructions[i]!)
          if (!origins.every(({ name, results }) => name === 'mov' && results.length === 1)) continue
          const values = new Set(origins.map((origin) => this.#number(origin, 0)))
          if (values.size === 1) for (const value of values) this.#hold(target, value)
        }
      }
    }
  }

  /** The number of an operand. */
  of(operand: string): number {
    const known = this.#registers.get(operand)
    if (known !== undefined) return known
    if (/^-?\d/.test(operand) && !/^0[dDfF]/.test(operand))
      return this.#literal(BigInt.asIntN(64, toInteger(operand)))
    const number = this.#id(operand)
    if (!operand.startsWith('%')) this.#variables.add(number)
    else if (!this.#holders.has(number)) this.#holders.set(number, operand)
    return number
  }

  /** The value of a register that follows from its expression, such as `x - x`. */
  literalOf(register: string): bigint | undefined {
    const number = this.#registers.get(register)
    return number === undefined ? undefined : this.#literals.get(number)
  }

  /** The place in memory of an operand such as `[%rd1+4]`. */
  addressOf(operand: string): Address {
    const [, name = '', more = '0'] = /^\[\s*([^\s+\]]+)\s*(?:\+\s*(-?\d+))?/.exec(operand) ?? []
    const { factors, constant } = this.#sumOf(this.of(name))
    return { factors, constant: constant + BigInt(more) }
  }

  /** The first register with the value of a register, or undefined if it has no number. */
  holderOf(register: string): string | undefined {
    const number = this.#registers.get(register)
    return number === undefined ? undefined : this.#holders.get(number)
  }

  /** A register with a value. */
  registerOf(number: number): string | undefined {
    return this.#holders.get(number)
  }

  /** The sum that a register holds. */
  termsOf(register: string): Terms | undefined {
    const sum = this.#sums.get(this.#registers.get(register) ?? -1)
    if (sum === undefined) return undefined
    const factors = [...sum.factors].map(([leaf, factor]) => [this.#holders.get(leaf) ?? '', factor] as const)
    return { factors, constant: sum.constant }
  }

  /** The range of a square, or of a difference of equal values, as f32. */
  rangeOf({ name, modifiers, inputs }: PtxInstruction): FloatRange | undefined {
    const isPlain = /^(?:mul|sub)$/.test(name) && modifiers.endsWith('.f32')
    if (!isPlain || this.of(inputs[0]!) !== this.of(inputs[1]!)) return undefined
    return name === 'mul' ? [0, Infinity] : [0, 0]
  }

  /** Whether an instruction multiplies a value by itself. */
  isSquare({ name, modifiers, inputs }: PtxInstruction): boolean {
    return name === 'mul' && /^\.(?:lo|wide)/.test(modifiers) && this.of(inputs[0]!) === this.of(inputs[1]!)
  }

  /** Whether a value is the address of a variable. */
  isVariable(number: number): boolean {
    return this.#variables.has(number)
  }

  #hold(register: string, number: number): void {
    this.#registers.set(register, number)
    if (!this.#holders.has(number)) this.#holders.set(number, register)
  }

  #id(text: string): number {
    const known = this.#ids.get(text)
    if (known !== undefined) return known
    this.#ids.set(text, this.#ids.size)
    return this.#ids.size - 1
  }

  #literal(value: bigint): number {
    const number = this.#id(`literal ${value}`)
    this.#literals.set(number, value)
    return number
  }

  #sumOf(number: number): Address {
    const literal = this.#literals.get(number)
    if (literal !== undefined) return { factors: new Map(), constant: literal }
    return this.#sums.get(number) ?? { factors: new Map([[number, 1n]]), constant: 0n }
  }

  #tableOf(number: number): Table {
    const literal = this.#literals.get(number)
    if (literal === 0n || literal === -1n) return { leaves: [], rows: literal === 0n ? 0n : 1n }
    return this.#tables.get(number) ?? { leaves: [number], rows: 2n }
  }

  /** One of the words of a value. */
  #part(whole: number, at: number, count: number): number {
    const words = this.#words.get(whole)
    return (words?.length === count ? words[at] : undefined) ?? this.#id(`part ${at} of ${count}: ${whole}`)
  }

  #number(instruction: PtxInstruction, at: number): number {
    const { name, modifiers, results, inputs: operands } = instruction
    const bits = Number(/\.[bsu](\d+)$/.exec(modifiers)?.[1] ?? (modifiers.endsWith('.pred') ? 1 : 0))
    const isInteger = bits > 0
    const add = (terms: readonly (readonly [string, bigint])[]) =>
      this.#add(
        terms.map(([operand, factor]) => [this.of(operand), factor] as const),
        bits,
      )
    if (name === 'mov') {
      const isPacked = operands[0]!.startsWith('{')
      if (results.length > 1) return this.#part(this.of(operands[0]!), at, results.length)
      if (!isPacked) return this.of(operands[0]!)
      const words = operands[0]!.match(/[^{},\s][^{},]*/g)!.map((word) => this.of(word))
      const packed = this.#id(`${modifiers} ${words.join(', ')}`)
      this.#words.set(packed, words)
      return packed
    }
    const [first = '', second = '', third = ''] = operands
    // Addresses of variables in generic memory.
    if (name === 'cvta') return this.of(first)
    if (name === 'cvt' && modifiers === '.u32.u64') return this.#part(this.of(first), 0, 2)
    const limit = this.#limits.get(this.of(first))
    // ptxas looks whether an extreme needs fewer bits only where these are taken.
    if (limit !== undefined && limit <= maskOfPart(name, modifiers, second)) return this.of(first)
    if (isInteger && results.length === 1) {
      const factor = /^-?\d/.test(second) ? toInteger(second) : undefined
      if (name === 'add')
        return add([
          [first, 1n],
          [second, 1n],
        ])
      if (name === 'sub')
        return add([
          [first, 1n],
          [second, -1n],
        ])
      if (name === 'neg') return add([[first, -1n]])
      if (/^(?:mul|mad)$/.test(name) && modifiers.startsWith('.lo') && factor !== undefined)
        return add([[first, factor], ...(name === 'mad' ? [[third, 1n] as const] : [])])
      if (name === 'shl' && factor !== undefined && factor < 64n) return add([[first, 1n << factor]])
      const table = { and: 0xc0, or: 0xfc, xor: 0x3c, not: 0x0f, lop3: Number(operands[3]) }[name]
      if (table !== undefined) return this.#combine(table, operands.slice(0, name === 'lop3' ? 3 : 2))
    }
    if (name === 'shfl' && at === 0 && this.#uniform.has(first)) return this.of(first)
    const pure = name === 'ld' ? /^\.(?:param|global\.nc|const)/.test(modifiers) : isPure(instruction)
    if (!pure) return this.#id(results[at]!)
    const texts = operands.map((operand) => this.#texts(operand))
    if (/^(?:selp|slct)$/.test(name) && texts[0] === texts[1]) return this.of(first)
    if (name === 'sad' && texts[0] === texts[1]) return this.of(third)
    if (name === 'setp' && results.length === 1) return this.#compare(modifiers, texts, operands)
    if (/^(?:add|fma|mad|max|min|mul)$/.test(name)) texts.splice(0, 2, ...texts.slice(0, 2).sort())
    if (/^(?:max|min)$/.test(name) && texts[0] === texts[1]) return this.of(first)
    if (name === 'mul' && modifiers.endsWith('.f32') && second === '0f3F800000') return this.of(first)
    const number = this.#id(`${name}${modifiers} ${texts.join(', ')} ${at}`)
    const other = this.#literals.get(this.of(second))
    if (name === 'max' && modifiers === '.s32' && other !== undefined && other >= 0n)
      this.#positive.add(number)
    const isLimit = name === 'min' && (modifiers === '.u32' || this.#positive.has(this.of(first)))
    if (isLimit && other !== undefined && other >= 0n) this.#limits.set(number, other)
    if (name === 'cvt' && /^\.[su]64\.[su]32$/.test(modifiers))
      this.#words.set(number, [this.of(first), undefined])
    return number
  }

  /** An operand with numbers in place of registers. */
  #texts(operand: string): string {
    return operand.replaceAll(/%\w+(?: \d+)?/g, (register) => `#${this.of(register)}`)
  }

  #add(terms: readonly (readonly [number, bigint])[], bits: number): number {
    const factors = new Map<number, bigint>()
    let constant = 0n
    for (const [number, factor] of terms) {
      const sum = this.#sumOf(number)
      constant += sum.constant * factor
      for (const [leaf, times] of sum.factors) factors.set(leaf, (factors.get(leaf) ?? 0n) + times * factor)
    }
    constant = BigInt.asIntN(bits, constant)
    for (const [leaf, factor] of factors) {
      if ((factor & maskOf(bits)) === 0n) factors.delete(leaf)
      else factors.set(leaf, BigInt.asIntN(bits, factor))
    }
    if (factors.size === 0) return this.#literal(constant)
    const [[only, factor]] = factors as unknown as [[number, bigint]]
    if (factors.size === 1 && factor === 1n && constant === 0n) return only
    const sorted = new Map([...factors].sort(([a], [b]) => a - b))
    const number = this.#id(`sum.b${bits} ${textOf(sorted)} + ${constant}`)
    if (sorted.size <= mostLeaves) this.#sums.set(number, { factors: sorted, constant })
    return number
  }

  #combine(table: number, operands: readonly string[]): number {
    const parts = operands.map((operand) => this.#tableOf(this.of(operand)))
    const all = [...new Set(parts.flatMap(({ leaves }) => leaves))].sort((a, b) => a - b)
    if (all.length > mostLeaves)
      return this.#id(`bits ${table} ${operands.map((o) => this.of(o)).join(', ')}`)
    const resultOf = (row: number): bigint => {
      const bits = parts.map(({ leaves, rows }) => {
        const own = leaves.reduce((sum, leaf, bit) => sum | (((row >> all.indexOf(leaf)) & 1) << bit), 0)
        return Number((rows >> BigInt(own)) & 1n)
      })
      return BigInt((table >> ((bits[0]! << 2) | ((bits[1] ?? 0) << 1) | (bits[2] ?? 0))) & 1)
    }
    let rows = 0n
    for (let row = 0; row < 2 ** all.length; row++) rows |= resultOf(row) << BigInt(row)
    return this.#numberOf({ leaves: all, rows })
  }

  #numberOf({ leaves, rows }: Table): number {
    const at = (row: number) => (rows >> BigInt(row)) & 1n
    const size = 2 ** leaves.length
    // Leaves on which the result does not depend.
    for (let bit = leaves.length - 1; bit >= 0; bit--) {
      let others = 0n
      let count = 0
      let isUsed = false
      for (let row = 0; row < size; row++) {
        if ((row >> bit) & 1) continue
        isUsed ||= at(row) !== at(row | (1 << bit))
        others |= at(row) << BigInt(count++)
      }
      if (!isUsed) return this.#numberOf({ leaves: leaves.filter((_, at) => at !== bit), rows: others })
    }
    if (leaves.length === 0) return this.#literal(rows === 0n ? 0n : -1n)
    if (leaves.length === 1 && rows === 2n) return leaves[0]!
    const number = this.#id(`table ${rows} ${leaves.join(', ')}`)
    this.#tables.set(number, { leaves, rows })
    return number
  }

  /** A comparison has one number with its opposite. */
  #compare(modifiers: string, texts: readonly string[], operands: readonly string[]): number {
    const [, operator = '', more, type = ''] =
      /^\.([a-z]+)(?:\.(and|or|xor))?((?:\.ftz)?\.\w+)$/.exec(modifiers) ?? []
    const isFloat = /f\d/.test(type)
    const opposite = isFloat ? undefined : { ge: 'lt', le: 'gt', ne: 'eq', hs: 'lo', ls: 'hi' }[operator]
    const [a = '', b = ''] = texts
    const own = opposite ?? operator
    const isSwapped = /^(?:gt|hi)$/.test(own) || (/^(?:eq|equ|ne|neu)$/.test(own) && a > b)
    const less = { gt: 'lt', hi: 'lo' }[own] ?? own
    if (a === b && (!isFloat || !/^(?:eq|ge|le|equ|num|nan)$/.test(operator))) {
      return this.#joined(this.#literal(isReflexive(modifiers) ? -1n : 0n), false, more, operands[2])
    }
    return this.#joined(
      this.#id(`${less}${type} ${isSwapped ? `${b}, ${a}` : `${a}, ${b}`}`),
      opposite !== undefined,
      more,
      operands[2],
    )
  }

  #joined(
    number: number,
    isOpposite: boolean,
    operator: string | undefined,
    operand: string | undefined,
  ): number {
    const own = `%compared ${number}`
    this.#registers.set(own, number)
    const isNegated = operand?.startsWith('!') === true
    const table = { and: 0xc0, or: 0xfc, xor: 0x3c }[operator ?? '']
    if (table === undefined || operand === undefined) return this.#combine(isOpposite ? 0x0f : 0xf0, [own])
    let rows = 0
    for (let row = 0; row < 8; row++)
      if ((table >> (row ^ (isOpposite ? 4 : 0) ^ (isNegated ? 2 : 0))) & 1) rows |= 1 << row
    return this.#combine(rows, [own, operand.replace(/^!/, '')])
  }
}

/** Whether all invocations of a subgroup that execute an instruction have the same results. */
function isUniform(instruction: PtxInstruction, uniform: ReadonlySet<string>): boolean {
  const { name, modifiers, inputs, sources } = instruction
  if (name === 'vote' || name === 'redux' || name === 'activemask') return true
  const isOfOneLane = name === 'shfl' && modifiers.includes('.idx') && !sources.includes(inputs[1]!)
  if (isOfOneLane) return true
  const special = /%(?:clock|globaltimer|lane|tid)/.test(inputs.join(' '))
  const isLoad = name === 'ld' && /^\.(?:param|const|global\.nc)/.test(modifiers)
  return (
    (isLoad || isPure(instruction) || name === 'mov') &&
    !special &&
    sources.every((s) => uniform.has(s) || /^%[a-z_]+$/.test(s))
  )
}

/** Whether equal operands give equal results. */
function isPure({ name, inputs }: PtxInstruction): boolean {
  return (
    !/%(?:clock|globaltimer)/.test(inputs.join(' ')) &&
    /^(?:abs|activemask|add|and|bf[ei]|bfind|brev|clz|copysign|cos|cvta?|div|dp[24]a|ex2|fma|fns|lg2|lop3|mad|match|max|min|mul|neg|not|or|popc|prmt|rcp|redux|rem|rsqrt|sad|selp|setp|shfl?|sh[lr]|sin|slct|sqrt|sub|szext|tanh|testp|vote|xor)$/.test(
      name,
    )
  )
}

/** The low bits that an instruction takes, none if it is another. */
function maskOfPart(name: string, modifiers: string, mask: string): bigint {
  if (name === 'cvt') return maskOf(Number(/^\.u32\.u(8|16)$/.exec(modifiers)?.[1] ?? 0))
  if (name !== 'and' || modifiers !== '.b32' || !/^\d/.test(mask)) return 0n
  const bits = toInteger(mask)
  return (bits & (bits + 1n)) === 0n ? bits : 0n
}

/** Whether a comparison holds of a value and itself. */
function isReflexive(modifiers: string): boolean {
  return /^\.(?:equ?|geu?|hs|leu?|ls)\b/.test(modifiers)
}

function toInteger(text: string): bigint {
  return text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text.replace(/U$/, ''))
}

function textOf(factors: ReadonlyMap<number, bigint>): string {
  return [...factors].map(([leaf, factor]) => `${factor}*#${leaf}`).join(' + ')
}
