import { copiedOperand, type FactOf, resultsOf } from './instruction-facts.ts'
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
const mostChanges = 8
const mostRounds = 4

/**
 * What can be known of the values in a kernel without executing it: bits, ranges, equal values, stored values that are loaded
 * again, and which branches are never taken. It is sparse conditional constant propagation (Wegman and Zadeck, 1991), without
 * any limit of depth.
 */
export class KnownValues {
  readonly #kernel: PtxKernel
  #facts = new Map<string, Fact>()
  #changes = new Map<string, number>()
  #executed = new Uint8Array()
  #fixed = new Set<number>()
  /** By instruction, which of the next ones follow. */
  #followed = new Map<number, Set<number>>()

  constructor(kernel: PtxKernel) {
    this.#kernel = kernel
    // What is known tells which operations copy an operand and which stores go elsewhere, so that more is known.
    let copies = ''
    for (let round = 0; round < mostRounds; round++) {
      const before = this.#facts
      const factOf: FactOf = (operand, bits) => this.#operand(operand, bits, before) ?? unknown(bits)
      const copied = kernel.instructions.map((one) => (round === 0 ? undefined : copiedOperand(one, factOf)))
      const numbers = new ValueNumbers(kernel, (at) => copied[at])
      const stores = forwardedStores(kernel, numbers, (register) => before.get(register))
      const found = `${copied.join()} ${[...stores.storesOf.keys()].join()}`
      if (round > 0 && found === copies) break
      copies = found
      this.#facts = new Map()
      this.#changes = new Map()
      this.#executed = new Uint8Array(kernel.instructions.length)
      this.#followed = new Map()
      this.#fixed = new Set()
      this.#propagate(numbers, stores)
    }
  }

  /** What is known of a register, or undefined if nothing that is executed sets it. */
  of(register: string): Fact | undefined {
    return this.#facts.get(register)
  }

  /** Whether the value of a register is the same in all executions. */
  isFixed(register: string): boolean {
    return this.#facts.get(register)?.isFixed === true
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
    const { name, condition, next } = this.#kernel.instructions[at]!
    return (
      name === 'bra' && condition !== undefined && new Set(next).size > (this.#followed.get(at)?.size ?? 0)
    )
  }

  #propagate(numbers: ValueNumbers, { storesOf, loadsOf }: ForwardedStores): void {
    const { definitions, instructions, readers } = this.#kernel
    const flow = instructions.length > 0 ? [0] : []
    const changed: number[] = []
    const change = (at: number): void => {
      if (this.#executed[at] === 1) changed.push(at)
    }
    const set = (at: number, register: string, result: Fact): void => {
      if (result.isFixed && result.bits <= 32) this.#fixed.add(at)
      const before = this.#facts.get(register)
      const changes = this.#changes.get(register) ?? 0
      const isOnly = definitions.get(register)!.length === 1 && changes < mostChanges
      let next = before === undefined || isOnly ? result : either(before, result)
      if (changes >= mostChanges) next = bitsOnly(next)
      if (before !== undefined && isSameFact(before, next)) return
      this.#changes.set(register, changes + 1)
      this.#facts.set(register, next)
      for (const reader of readers.get(register) ?? []) change(reader)
    }
    const visit = (at: number): void => {
      const instruction = instructions[at]!
      const { condition, isNegated, next, sources } = instruction
      const state = condition === undefined ? literal(1, 1n) : this.#operand(condition, 1)
      if (state === undefined) return
      const isAlways = isLiteral(state) ? (state.low === 1n) !== isNegated : undefined
      const followed = this.#followed.get(at) ?? new Set()
      this.#followed.set(at, followed)
      const isBranch = instruction.name === 'bra' && condition !== undefined && next.length > 1
      for (const [way, to] of next.entries()) {
        if (followed.has(to) || (isBranch && isAlways === (way === 1))) continue
        followed.add(to)
        if (this.#executed[to] === 0) flow.push(to)
      }
      if (isAlways === false && !isBranch) return
      for (const load of loadsOf.get(at) ?? []) change(load)
      if (sources.some((source) => this.#operand(source, 32) === undefined)) return
      const isFixed =
        isAlways === true &&
        (instruction.name !== 'mov' || sources.length > 0) &&
        isComputed(instruction) &&
        sources.every((source) => this.isFixed(source))
      this.#fixed.delete(at)
      const results = resultsOf(instruction, (operand, bits) => this.#operand(operand, bits)!)
      for (const [register, computed] of results) {
        if (!definitions.has(register)) continue
        // Squares are 0 or 1 modulo 4.
        const isSquare = /^\.(?:lo|wide)/.test(instruction.modifiers) && numbers.isSquare(instruction)
        const result = isSquare ? fact(computed.bits, { ...computed, zeros: computed.zeros | 2n }) : computed
        const value = numbers.literalOf(register)
        const stores = storesOf.get(`${at} ${register}`)
        if (value !== undefined) set(at, register, literal(result.bits, value))
        else if (stores === undefined) set(at, register, isFixed ? { ...result, isFixed } : result)
        else {
          const stored = stores.filter((store) => this.#executed[store.at] === 1)
          const facts = stored.map(({ operand }) => this.#operand(operand, result.bits))
          const known = facts.filter((one) => one !== undefined)
          if (known.length > 0) set(at, register, known.reduce(either))
        }
      }
    }
    for (;;) {
      const at = flow.pop() ?? changed.pop()
      if (at === undefined) return
      this.#executed[at] = 1
      visit(at)
    }
  }

  /** Undefined if nothing that is executed has set the operand yet. */
  #operand(operand: string, bits: number, facts = this.#facts): Fact | undefined {
    if (/^-?\d/.test(operand)) return literal(bits, literalOf(operand))
    // Special registers are unknown to both compilers, but for this one (`lane_index` in the prelude).
    if (operand === '%laneid') return fact(bits, { high: 31n })
    if (!this.#kernel.definitions.has(operand)) return unknown(bits)
    const known = facts.get(operand)
    return known === undefined || known.bits === 1 ? known : resized(known, bits, false)
  }
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
