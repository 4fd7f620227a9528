import { type FactOf, Operation } from './instruction-facts.ts'
import { type ForwardedValues, forwardedValues } from './memory-forwarding.ts'
import { isComputed, type PtxInstruction, type PtxKernel } from './ptx-instructions.ts'
import {
  between,
  both,
  either,
  type Fact,
  fact,
  isLiteral,
  isSameFact,
  literal,
  product,
  resized,
  sum,
  unknown,
} from './value-facts.ts'
import { type Terms, ValueNumbers } from './value-numbers.ts'

const mostRounds = 4

/**
 * What can be known of the values in a kernel without executing it: bits, equal values, stored values that are loaded again,
 * ranges of f32, and which branches are never taken. It is sparse conditional constant propagation (Wegman and Zadeck, 1991),
 * without any limit of depth.
 */
export class KnownValues {
  readonly #kernel: PtxKernel
  readonly #operations: readonly Operation[]
  #registers = new Map<string, Register>()
  #executed = new Uint8Array()
  /** The instructions whose results are fixed. */
  #fixed = new Set<number>()
  /** By branch with a condition, the ways that it may go: 1 where it does, 2 where it does not. */
  #ways = new Map<number, number>()

  constructor(kernel: PtxKernel) {
    this.#kernel = kernel
    this.#operations = kernel.instructions.map((instruction) => new Operation(instruction))
    let numbers = new ValueNumbers(kernel)
    let forwarded = forwardedValues(kernel, numbers, () => undefined)
    this.#propagate(numbers, forwarded)
    // What is known tells which results are copies and which stores go elsewhere, so that more is known.
    let found = ''
    for (let round = 1; round < mostRounds; round++) {
      const copied = this.#copies(numbers, forwarded)
      if (copied.size > 0) numbers = new ValueNumbers(kernel, copied)
      forwarded = forwardedValues(kernel, numbers, (register) => this.of(register))
      const now = [...copied.keys(), ...forwarded.sourcesOf.keys()].join()
      if (now === found) return
      found = now
      this.#propagate(numbers, forwarded)
    }
  }

  /** What is known of a register, or undefined if nothing that is executed sets it. */
  of(register: string): Fact | undefined {
    return this.#registers.get(register)?.fact
  }

  /** Whether the value of a register is the same in all executions. */
  isFixed(register: string): boolean {
    return this.of(register)?.isFixed === true
  }

  /** Whether the results of an instruction, of up to 32 bits, are the same in all executions. */
  isFixedAt(at: number): boolean {
    return this.#fixed.has(at)
  }

  isExecuted(at: number): boolean {
    return this.#executed[at] === 1
  }

  /** Whether a branch with a condition always goes the same way. */
  isDecided(at: number): boolean {
    return isConditionalBranch(this.#kernel.instructions[at]!) && this.#ways.get(at) !== 3
  }

  /** Registers that hold the value of an operand, and that operand. */
  #copies(numbers: ValueNumbers, { sourcesOf }: ForwardedValues): Map<string, string> {
    const { definitions } = this.#kernel
    const factOf: FactOf = (operand, bits) => this.#operand(operand, bits) ?? unknown(bits)
    const copied = new Map<string, string>()
    for (const operation of this.#operations) {
      const operand = operation.copied(factOf)
      if (operand !== undefined) copied.set(operation.instruction.results[0]!, operand)
    }
    for (const [register, sources] of sourcesOf) {
      const operands = sources.map(({ operand }) => operand)
      const isOne = new Set(operands.map((operand) => numbers.of(operand))).size === 1
      if (isOne && definitions.get(operands[0]!)?.length === 1) copied.set(register, operands[0]!)
    }
    return copied
  }

  #propagate(numbers: ValueNumbers, { sourcesOf, loadsOf }: ForwardedValues): void {
    const { definitions, instructions, readers } = this.#kernel
    const executed = new Uint8Array(instructions.length)
    this.#executed = executed
    this.#fixed = new Set()
    this.#ways = new Map()
    this.#registers = new Map()
    for (const [register, { length }] of definitions)
      this.#registers.set(register, {
        fact: undefined,
        isSetOnce: length === 1,
        isRanged: length === 1 && !sourcesOf.has(register),
        readers: [...(readers.get(register) ?? [])],
      })
    /** By register, an earlier one with the same value. */
    const sameAs = new Map<string, string>()
    for (const [register, settings] of definitions) {
      const same = numbers.holderOf(register)
      if (same === undefined || same === register || definitions.get(same)?.length !== 1) continue
      sameAs.set(register, same)
      this.#registers.get(same)!.readers.push(...settings)
    }
    for (const [register, sources] of sourcesOf)
      for (const { operand } of sources)
        this.#registers.get(operand)?.readers.push(...definitions.get(register)!)
    /** By register, the sum that it holds. */
    const sums = new Map<string, Terms>()
    for (const [register, settings] of definitions) {
      const terms = numbers.termsOf(register)
      if (terms === undefined) continue
      sums.set(register, terms)
      for (const [term] of terms.factors) this.#registers.get(term)?.readers.push(...settings)
    }
    /** The instructions that are to be visited, and the first of them. */
    const marked = new Uint8Array(instructions.length)
    let first = instructions.length
    const mark = (at: number): void => {
      marked[at] = 1
      if (at < first) first = at
    }
    const follow = (at: number): void => {
      if (executed[at] === 1) return
      executed[at] = 1
      mark(at)
    }
    const change = (at: number): void => {
      if (executed[at] === 1) mark(at)
    }
    const set = (at: number, register: Register, result: Fact): void => {
      if (result.isFixed && result.bits <= 32) this.#fixed.add(at)
      const before = register.fact
      const joined = before === undefined ? result : either(before, result)
      const isFixed = register.isSetOnce && result.isFixed && before?.isFixed !== false
      const { floats, ...bits } = isFixed ? { ...joined, isFixed } : joined
      const next = floats !== undefined && register.isRanged ? { ...bits, floats } : bits
      if (before !== undefined && isSameFact(before, next)) return
      register.fact = next
      for (const reader of register.readers) change(reader)
    }
    const factOf: FactOf = (operand, bits) => this.#operand(operand, bits)!
    const visit = (at: number): void => {
      const instruction = instructions[at]!
      const { name, condition, isNegated, next, results, sources } = instruction
      const state = condition === undefined ? always : this.#operand(condition, 1)
      if (state === undefined) return
      const isAlways = isLiteral(state) ? (state.ones === 1n) !== isNegated : undefined
      if (isConditionalBranch(instruction)) {
        const ways = (isAlways === false ? 0 : 1) | (isAlways === true ? 0 : 2)
        this.#ways.set(at, (this.#ways.get(at) ?? 0) | ways)
        if (ways & 1) follow(next[0]!)
        if (ways & 2) follow(next[1]!)
        return
      }
      for (const to of next) follow(to)
      if (isAlways === false) return
      for (const load of loadsOf.get(at) ?? []) change(load)
      if (results.length === 0) return
      let isFixed = isAlways === true && isComputed(instruction) && (name !== 'mov' || sources.length > 0)
      for (const source of sources) {
        const register = this.#registers.get(source)
        if (register !== undefined && register.fact === undefined) return
        isFixed &&= register?.fact?.isFixed === true
      }
      this.#fixed.delete(at)
      const facts = this.#operations[at]!.results(factOf)
      for (const [place, computed] of facts.entries()) {
        const register = this.#registers.get(results[place]!)
        if (register === undefined) continue
        const value = numbers.literalOf(results[place]!)
        const sources = sourcesOf.get(results[place]!)
        const same = this.#registers.get(sameAs.get(results[place]!) ?? '')?.fact
        if (value !== undefined) set(at, register, literal(computed.bits, value))
        else if (sources !== undefined) {
          const known = sources
            .filter((source) => executed[source.at] === 1)
            .map(({ operand }) => this.#operand(operand, computed.bits))
            .filter((one) => one !== undefined)
          if (known.length > 0) set(at, register, known.reduce(either))
        } else {
          const known = [computed]
          if (numbers.isSquare(instruction)) known.push(squareOf(computed.bits))
          const floats = numbers.rangeOf(instruction)
          if (floats !== undefined) known.push({ ...computed, floats })
          if (same?.bits === computed.bits) known.push(same)
          const terms = sums.get(results[place]!)
          if (terms !== undefined) known.push(this.#sum(terms, computed.bits))
          const result = known.reduce(both)
          set(at, register, isFixed ? { ...result, isFixed } : result)
        }
      }
    }
    if (instructions.length > 0) follow(0)
    while (first < instructions.length) {
      const start = first
      first = instructions.length
      for (let at = start; at < instructions.length; at++) {
        if (marked[at] === 0) continue
        marked[at] = 0
        visit(at)
      }
    }
  }

  #sum({ factors, constant }: Terms, bits: number): Fact {
    return factors.reduce(
      (before, [register, factor]) => {
        const known = this.of(register)
        const term = known?.bits === bits ? product(known, literal(bits, factor)) : unknown(bits)
        return sum(before, term)
      },
      literal(bits, constant),
    )
  }

  /** Undefined if nothing that is executed has set the operand yet. */
  #operand(operand: string, bits: number): Fact | undefined {
    if (!operand.startsWith('%'))
      return /^-?\d/.test(operand) ? literal(bits, literalOf(operand)) : unknown(bits)
    const register = this.#registers.get(operand)
    if (register !== undefined) {
      const known = register.fact
      return known === undefined || known.bits === 1 ? known : resized(known, bits, false)
    }
    // Special registers are unknown to both compilers, but for this one (`lane_index` in the prelude).
    return operand === '%laneid' ? between(bits, 0n, 31n) : unknown(bits)
  }
}

interface Register {
  fact: Fact | undefined
  readonly isSetOnce: boolean
  /** Whether its range counts: ptxas knows none of what several instructions set, and in a loop it might change for ever. */
  readonly isRanged: boolean
  readonly readers: number[]
}

const always = literal(1, 1n)

function isConditionalBranch({ name, condition, next }: PtxInstruction): boolean {
  return name === 'bra' && condition !== undefined && next.length > 1
}

/** Squares are 0 or 1 modulo 4. */
const squareOf = (bits: number): Fact => fact(bits, 2n, 0n)

/** The bits of a literal, such as `-1` or `0f3F800000`. */
function literalOf(text: string): bigint {
  const float = /^0[dDfF]([\dA-Fa-f]+)$/.exec(text)
  if (float !== null) return BigInt(`0x${float[1]}`)
  return text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text.replace(/U$/, ''))
}

/**
 * Whether ptxas may know an integer to be a literal, or a branch never to be taken, when nvcc does not. nvcc's analysis of bits
 * ends after six operations, for example, and it does not know shuffles of literals. Most errors of ptxas 13.0 need an operand
 * that only it knows: it takes `x - c` for `c - x` in a minimum if it finds out late that `c` is a literal.
 *
 * Accepted is PTX of which `KnownValues`, which knows more than ptxas, knows no branch and no result of an instruction, but for
 * copies of literals, registers of 64 bits, which are addresses, and floats whose bits are not used.
 */
export function hasLateLiterals(kernel: PtxKernel, values: KnownValues): boolean {
  const { instructions, definitions, readers } = kernel
  const floats = new Set<string>()
  for (const [at, instruction] of instructions.entries()) {
    const { name, targets } = instruction
    if (!values.isExecuted(at) || values.isDecided(at)) return true
    const isFloat = givesFloat(instruction)
    const isJoin = targets.some((target) => definitions.get(target)!.length > 1 && values.isFixed(target))
    if (isJoin && !isFloat) return true
    if (name === 'mov' || !values.isFixedAt(at)) continue
    if (!isFloat) return true
    for (const target of targets) floats.add(target)
  }
  for (const register of floats)
    for (const reader of (readers.get(register) ?? []).map((at) => instructions[at]!)) {
      if (reader.name === 'mov') for (const target of reader.targets) floats.add(target)
      else if (isComputed(reader) && !/\.b?f\d/.test(reader.modifiers)) return true
    }
  return false
}

function givesFloat({ name, modifiers }: PtxInstruction): boolean {
  return !/^(?:setp|testp)$/.test(name) && /\.(?:b?f|[bsu])\d/.exec(modifiers)?.[0].includes('f') === true
}
