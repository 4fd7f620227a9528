import { bitsOf, typedValue } from './ptx-arithmetic.ts'
import type { PtxMemory } from './ptx-memory.ts'
import { literal, type PtxFunction, type PtxVariable } from './ptx-text.ts'

/** The bits in a register: a bigint for 64 bits, a boolean for a predicate, otherwise a number. */
export type Register = number | bigint | boolean

/** What a thread waits for. */
export type Wait =
  | { readonly kind: 'barrier' }
  | { readonly kind: 'active'; readonly site: object; readonly done: (lanes: number) => void }
  | {
      readonly kind: 'warp'
      readonly mask: number
      readonly name: string
      readonly value: number
      readonly done: (values: ReadonlyMap<number, number>) => void
    }

export interface Frame {
  readonly code: Code
  readonly registers: Register[]
  /** The address of the frame's variables. */
  readonly base: number
  /** The addresses of the parameters, and of the result. */
  readonly parameters: readonly number[]
  readonly result: number
  next: number
}

export interface Thread {
  readonly index: readonly [number, number, number]
  readonly rank: number
  readonly workgroup: readonly [number, number, number]
  readonly frames: Frame[]
  /** Copies that were started and are made when they are waited for, in groups. */
  readonly copies: (() => void)[][]
  wait: Wait | undefined
}

export interface Launch {
  readonly grid: readonly [number, number, number]
  readonly block: readonly [number, number, number]
}

export type Step = (thread: Thread, frame: Frame) => void
export type Read<T> = (thread: Thread, frame: Frame) => T

/** A function of PTX as a list of closures, one an instruction. */
export interface Code {
  readonly steps: readonly Step[]
  /** The size of the variables of a call. */
  readonly frameByteLength: number
}

/** What code needs of the module around it. */
export interface Context {
  readonly memory: PtxMemory
  readonly launch: Launch
  /** The address of a variable of the module. */
  addressOf(name: string): number | undefined
  call(thread: Thread, name: string, result: number, parameters: readonly number[]): void
}

const axes = ['x', 'y', 'z']
const garbage = 0x5bd1e995

/** The operands of a function's instructions: what reads and writes them. */
export class Operands {
  readonly #source: PtxFunction
  readonly #context: Context
  readonly #registers = new Map<string, number>()
  /** The place of each variable in the frame; a later declaration of a name replaces an earlier one. */
  readonly #places = new Map<string, number>()
  /** The size of the variables declared so far. */
  byteLength = 0

  constructor(source: PtxFunction, context: Context) {
    this.#source = source
    this.#context = context
  }

  declare({ name, space, alignment, byteLength }: PtxVariable): void {
    if (space === 'shared') return
    const align = Math.max(alignment, 8)
    const place = Math.ceil(this.byteLength / align) * align
    this.#places.set(name, place)
    this.byteLength = place + byteLength
  }

  register(name: string): number {
    const known = this.#registers.get(name)
    if (known !== undefined) return known
    this.#registers.set(name, this.#registers.size)
    return this.#registers.size - 1
  }

  /** The value of an operand as a type. */
  value(operand: string, type: string): Read<number | bigint> {
    const context = this.#context
    if (/^-?\d/.test(operand)) {
      const constant = typedValue(literal(operand), type)
      return () => constant
    }
    if (!operand.startsWith('%')) {
      const address = this.address(operand)
      return (thread, frame) => typedValue(address(thread, frame), type)
    }
    const special = /^%(\w+)(?:\.([xyz]))?$/.exec(operand)!
    const axis = axes.indexOf(special[2] ?? 'x')
    const { block, grid } = context.launch
    switch (special[1]) {
      case 'tid':
        return ({ index }) => index[axis]!
      case 'ntid':
        return () => block[axis]!
      case 'ctaid':
        return ({ workgroup }) => workgroup[axis]!
      case 'nctaid':
        return () => grid[axis]!
      case 'laneid':
        return ({ rank }) => rank & 31
      case 'lanemask_lt':
        return ({ rank }) => (1 << (rank & 31)) - 1
      case 'lanemask_le':
        return ({ rank }) => (2 << (rank & 31)) - 1
      case 'lanemask_gt':
        return ({ rank }) => ~((2 << (rank & 31)) - 1)
      case 'lanemask_ge':
        return ({ rank }) => ~((1 << (rank & 31)) - 1)
      case 'lanemask_eq':
        return ({ rank }) => 1 << (rank & 31)
      case 'clock':
      case 'globaltimer_lo':
        return () => 0
    }
    const register = this.register(operand.slice(1))
    return (_, frame) => {
      // nvcc's undefined values, such as padding, are in registers that nothing is written to.
      return typedValue((frame.registers[register] as number | bigint | undefined) ?? garbage, type)
    }
  }

  number(operand: string, type: string): Read<number> {
    return this.value(operand, type) as Read<number>
  }

  condition(operand: string): Read<boolean> {
    if (/^-?\d+$/.test(operand)) return () => operand !== '0'
    const isNot = operand.startsWith('!')
    const register = this.register(operand.replace(/^!?%/, ''))
    return (_, frame) => {
      const value = frame.registers[register]
      if (value === undefined) throw new TypeError(`${operand} has no value`)
      return value !== isNot
    }
  }

  /** Writes a value of a type, extended to the width of the register by the type's sign. */
  assign(register: string, type: string, value: Read<number | bigint>): Step {
    const index = this.register(register.slice(1))
    const isLong = /^%(rd|h$)/.test(register)
    return (thread, frame) => {
      const bits = bitsOf(value(thread, frame), type)
      frame.registers[index] = isLong ? BigInt.asUintN(64, BigInt(bits)) : Number(bits) | 0
    }
  }

  /** The address in `[%rd1+4]`, `[name]` or `name+4`, in any space. */
  address(operand: string): Read<number> {
    const found = /^\[?([%\w$]+)(?:\+(-?\d+))?\]?$/.exec(operand)
    if (found === null) throw new SyntaxError(`unknown address ${operand}`)
    const [, base, offsetText = '0'] = found
    const offset = Number(offsetText)
    if (base!.startsWith('%')) {
      const value = this.value(base!, /^%(rd|\d)/.test(base!) ? 'u64' : 'u32')
      return (thread, frame) => Number(value(thread, frame)) + offset
    }
    const place = this.#places.get(base!)
    if (place !== undefined) return (_, frame) => frame.base + place + offset
    const parameter = this.#source.parameters.findIndex(({ name }) => name === base)
    if (parameter >= 0) return (_, frame) => frame.parameters[parameter]! + offset
    if (base === this.#source.result?.name) return (_, frame) => frame.result + offset
    const address = this.#context.addressOf(base!)
    if (address === undefined) throw new SyntaxError(`unknown name ${base}`)
    return () => address + offset
  }
}
