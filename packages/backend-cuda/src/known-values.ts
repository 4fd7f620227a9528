import { type FactOf, Operation } from './instruction-facts.ts'
import { type ForwardedStores, forwardedStores } from './memory-forwarding.ts'
import { isComputed, type PtxInstruction, type PtxKernel } from './ptx-instructions.ts'
import {
  bitsOnly,
  either,
  type Fact,
  fact,
  isLiteral,
  isSameFact,
  literal,
  resized,
  unknown,
} from './value-facts.ts'
import { ValueNumbers } from './value-numbers.ts'

/** So often a range may change before only its bits count. */
const mostChanges = 2
const mostRounds = 4

/**
 * What can be known of the values in a kernel without executing it: bits, ranges, equal values, stored values that are loaded
 * again, and which branches are never taken. It is sparse conditional constant propagation (Wegman and Zadeck, 1991), without
 * any limit of depth.
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
    let stores = forwardedStores(kernel, numbers, () => undefined)
    this.#propagate(numbers, stores)
    // What is known tells which operations copy an operand and which stores go elsewhere, so that more is known.
    let found = ''
    for (let round = 1; round < mostRounds; round++) {
      const factOf: FactOf = (operand, bits) => this.#operand(operand, bits) ?? unknown(bits)
      const copied = new Map<number, string>()
      for (const [at, operation] of this.#operations.entries()) {
        const operand = operation.copied(factOf)
        if (operand !== undefined) copied.set(at, operand)
      }
      if (copied.size > 0) numbers = new ValueNumbers(kernel, copied)
      stores = forwardedStores(kernel, numbers, (register) => this.of(register))
      const now = [...copied, ...stores.storesOf.keys()].join()
      if (now === found) return
      found = now
      this.#propagate(numbers, stores)
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

  #propagate(numbers: ValueNumbers, { storesOf, loadsOf }: ForwardedStores): void {
    const { definitions, instructions, readers } = this.#kernel
    const executed = new Uint8Array(instructions.length)
    this.#executed = executed
    this.#fixed = new Set()
    this.#ways = new Map()
    this.#registers = new Map()
    for (const [register, { length }] of definitions)
      this.#registers.set(register, {
        fact: undefined,
        changes: 0,
        isSetOnce: length === 1,
        readers: readers.get(register) ?? [],
      })
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
      const isFirst = register.changes < mostChanges
      let next = before === undefined || (register.isSetOnce && isFirst) ? result : either(before, result)
      if (!isFirst) next = bitsOnly(next)
      if (before !== undefined && isSameFact(before, next)) return
      register.changes++
      register.fact = next
      for (const reader of register.readers) change(reader)
    }
    const factOf: FactOf = (operand, bits) => this.#operand(operand, bits)!
    const visit = (at: number): void => {
      const instruction = instructions[at]!
      const { name, condition, isNegated, next, results, sources } = instruction
      const state = condition === undefined ? always : this.#operand(condition, 1)
      if (state === undefined) return
      const isAlways = isLiteral(state) ? (state.low === 1n) !== isNegated : undefined
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
      const stores = storesOf.get(at)
      const facts = this.#operations[at]!.results(factOf)
      for (const [place, computed] of facts.entries()) {
        const register = this.#registers.get(results[place]!)
        if (register === undefined) continue
        const value = numbers.literalOf(results[place]!)
        const stored = stores?.get(results[place]!)
        if (value !== undefined) set(at, register, literal(computed.bits, value))
        else if (stored === undefined) {
          const result = numbers.isSquare(instruction) ? squareOf(computed) : computed
          set(at, register, isFixed ? { ...result, isFixed } : result)
        } else {
          const known = stored
            .filter((store) => executed[store.at] === 1)
            .map(({ operand }) => this.#operand(operand, computed.bits))
            .filter((one) => one !== undefined)
          if (known.length > 0) set(at, register, known.reduce(either))
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
    return operand === '%laneid' ? fact(bits, { high: 31n }) : unknown(bits)
  }
}

interface Register {
  fact: Fact | undefined
  /** How often that changed. */
  changes: number
  readonly isSetOnce: boolean
  readonly readers: readonly number[]
}

const always = literal(1, 1n)

function isConditionalBranch({ name, condition, next }: PtxInstruction): boolean {
  return name === 'bra' && condition !== undefined && next.length > 1
}

/** Squares are 0 or 1 modulo 4. */
function squareOf(product: Fact): Fact {
  return fact(product.bits, { ...product, zeros: product.zeros | 2n })
}

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
