import type { Expression, For, IrModule } from '../ir.ts'
import { walkStatement } from '../walk.ts'
import type { LoopCounters } from './loop-counter.ts'

/** A digit of a thread's position or a loop's repetition: it runs through 0 … extent - 1, independently of the others. */
export interface Digit {
  readonly name: string
  readonly extent: number
  readonly factor: number
}

/** `constant` plus the sum of `factor` times each digit. */
export interface Affine {
  readonly constant: number
  readonly terms: ReadonlyMap<string, Digit>
}

/** Writes index expressions as sums of digits. */
export class AffineForms {
  readonly #module: IrModule
  readonly #counters: LoopCounters
  readonly #lets = new Map<number, Expression>()

  constructor(module: IrModule, counters: LoopCounters) {
    this.#module = module
    this.#counters = counters
    walkStatement(module.entryPoint.body, {
      statement: (s) => {
        if (s.kind === 'let') this.#lets.set(s.variable.id, s.value)
        return undefined
      },
    })
  }

  /** A loop's counter: its start and how often it runs, the same for all threads. */
  counter(loop: For): { from: Affine; count: number; step: number } | undefined {
    const c = this.#counters.of(loop)
    if (c?.step === undefined || c.step <= 0 || c.values === undefined) return undefined
    const from = this.of(c.first, [])
    return from && c.trips?.isExact ? { from, count: c.trips.most, step: c.step } : undefined
  }

  of(e: Expression, loops: readonly For[]): Affine | undefined {
    switch (e.kind) {
      case 'literal':
        return typeof e.value === 'number' ? { constant: e.value, terms: new Map() } : undefined
      case 'value': {
        if (e.value.kind === 'let-value') {
          const definition = this.#lets.get(e.value.id)
          return definition && this.of(definition, loops)
        }
        return this.#position(e, undefined)
      }
      case 'swizzle':
        return e.components.length === 1 ? this.#position(e.base, e.components[0]!) : undefined
      case 'convert':
        return e.value.type?.kind === 'scalar' && e.value.type.scalar !== 'bool' && e.type.kind === 'scalar'
          ? this.of(e.value, loops)
          : undefined
      case 'load': {
        if (e.place.kind !== 'variable') return undefined
        const id = e.place.variable.id
        const loop = loops.find((l) => this.#counters.of(l)?.variable.id === id)
        const counter = loop && this.counter(loop)
        if (counter === undefined) return undefined
        return sum(
          counter.from,
          digit({ name: `loop ${id}`, extent: counter.count, factor: counter.step }),
          1,
        )
      }
      case 'binary':
        return this.#binary(e, loops)
      default:
        return undefined
    }
  }

  #binary(e: Extract<Expression, { kind: 'binary' }>, loops: readonly For[]): Affine | undefined {
    const left = this.of(e.left, loops)
    const right = this.of(e.right, loops)
    if (left === undefined || right === undefined) return undefined
    const constant = right.terms.size === 0 ? right.constant : undefined
    switch (e.operator) {
      case '+':
        return sum(left, right, 1)
      case '-':
        return constant === undefined ? undefined : sum(left, right, -1)
      case '*':
        if (constant !== undefined) return scaled(left, constant)
        return left.terms.size === 0 ? scaled(right, left.constant) : undefined
      case '<<':
        return constant === undefined ? undefined : scaled(left, 2 ** constant)
      case '/':
        return constant === undefined ? undefined : divided(left, constant, 'div')
      case '>>':
        return constant === undefined ? undefined : divided(left, 2 ** constant, 'div')
      case '%':
        return constant === undefined ? undefined : divided(left, constant, 'mod')
      case '&':
        return constant !== undefined && Number.isInteger(Math.log2(constant + 1))
          ? divided(left, constant + 1, 'mod')
          : undefined
      default:
        return undefined
    }
  }

  #position(e: Expression, component: number | undefined): Affine | undefined {
    if (e.kind === 'value' && e.value.kind === 'let-value') {
      const definition = this.#lets.get(e.value.id)
      if (definition?.kind === 'swizzle' && component !== undefined)
        return this.#position(definition.base, definition.components[component]!)
      return definition && this.#position(definition, component)
    }
    if (e.kind === 'swizzle' && component !== undefined)
      return this.#position(e.base, e.components[component]!)
    if (e.kind !== 'value' || e.value.kind !== 'parameter') return undefined
    const size = this.#module.workgroupSize
    if (e.value.builtin === 'local_invocation_id' && component !== undefined)
      return digit({ name: `local ${component}`, extent: size[component]!, factor: 1 })
    if (e.value.builtin === 'local_invocation_index')
      return digit({ name: 'index', extent: size[0] * size[1] * size[2], factor: 1 })
    return undefined
  }

  /** A condition on the threads alone: the digit's name and how many of its first values meet it. */
  limit(condition: Expression): readonly [string, number] | undefined {
    if (condition.kind !== 'binary') return undefined
    const left = this.of(condition.left, [])
    const right = this.of(condition.right, [])
    const [only] = left?.terms.values() ?? []
    if (left?.terms.size !== 1 || left.constant !== 0 || only!.factor !== 1 || right?.terms.size !== 0)
      return undefined
    const bound = right.constant
    if (condition.operator === '<' && bound > 0) return [only!.name, bound]
    if (condition.operator === '<=' && bound >= 0) return [only!.name, bound + 1]
    return condition.operator === '==' && bound === 0 ? [only!.name, 1] : undefined
  }

  /** Do these digits tell all threads apart that meet the limits? */
  usesAll(
    digits: ReadonlySet<string>,
    limits: ReadonlyMap<string, number>,
    size: readonly number[],
  ): boolean {
    const has = (name: string) => digits.has(name) || limits.get(name) === 1
    const halves = [...digits].filter((d) => d.startsWith('index div '))
    const whole = has('index') || halves.some((d) => digits.has(d.replace('div', 'mod')))
    return whole || size.every((n, i) => n === 1 || has(`local ${i}`))
  }
}

function digit(d: Digit): Affine {
  return { constant: 0, terms: new Map([[d.name, d]]) }
}

function scaled(a: Affine, by: number): Affine {
  return {
    constant: a.constant * by,
    terms: new Map([...a.terms].map(([k, t]) => [k, { ...t, factor: t.factor * by }])),
  }
}

function sum(a: Affine, b: Affine, sign: 1 | -1): Affine | undefined {
  const terms = new Map(a.terms)
  for (const [k, t] of b.terms) {
    const known = terms.get(k)
    const factor = (known?.factor ?? 0) + sign * t.factor
    if (factor === 0) terms.delete(k)
    else terms.set(k, { ...t, factor })
  }
  return { constant: a.constant + sign * b.constant, terms }
}

/** Quotient or remainder of a single digit by a divisor of its extent: two digits that make up the one. */
function divided(a: Affine, by: number, part: 'div' | 'mod'): Affine | undefined {
  const [only] = a.terms.values()
  if (a.terms.size !== 1 || a.constant !== 0 || only!.factor !== 1 || by <= 0 || only!.extent % by !== 0)
    return undefined
  if (only!.name.includes(' div ') || only!.name.includes(' mod ')) return undefined
  const extent = part === 'div' ? only!.extent / by : by
  return digit({ name: `${only!.name} ${part} ${by}`, extent, factor: 1 })
}
