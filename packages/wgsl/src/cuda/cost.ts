import type { Analyses } from '../analysis/analyses.ts'
import { isBarrier, isSubgroupOperation } from '../collectives.ts'
import type { Block, Evaluated, Expression, For, IrFunction, Loop, Place, Statement, Type } from '../ir.ts'
import { sizeOf } from '../layout.ts'
import { moduleVariableOf, walk } from '../walk.ts'

/**
 * The estimated time for one invocation to execute a part of a kernel, in ticks of about 4 ns. A tick is
 * between the time of one operation on a multiprocessor with few invocations (1 ns) and with the maximum
 * number (10 ns). There is a lower and an upper bound, since branches may be taken or not. The estimate
 * determines how often something is done, but never affects correctness.
 */
export interface Cost {
  readonly least: number
  readonly most: number
}

const nothing: Cost = { least: 0, most: 0 }

/** Ticks per second. */
export const ticksPerSecond = 2.5e8

/** The cost of an access of up to 16 bytes. */
const storageTicks = 50
const workgroupTicks = 4
/** Invocations that change the same element wait for each other. */
const atomicTicks: Cost = { least: 20, most: 2500 }
const barrierTicks = 20
const collectiveTicks = 8
const matrixTicks = 4
const functionTicks = 4
const divisionTicks = 8
const quickFunctions: ReadonlySet<string> = new Set(['abs', 'fma', 'max', 'min', 'select', 'arrayLength'])

/**
 * Estimates the costs of the parts of a module. `loopCost` returns the cost of a loop, given the cost of one
 * round.
 */
export class Costs {
  readonly #functions = new Map<IrFunction, Cost>()
  readonly #counters: Analyses['counters']
  readonly #loopCost: (loop: For | Loop, round: Cost) => Cost

  constructor(counters: Analyses['counters'], loopCost: (loop: For | Loop, round: Cost) => Cost) {
    this.#counters = counters
    this.#loopCost = loopCost
  }

  ofFunction(fn: IrFunction): Cost {
    let cost = this.#functions.get(fn)
    if (cost === undefined) {
      cost = this.#of(fn.body)
      this.#functions.set(fn, cost)
    }
    return cost
  }

  #of(s: Statement | undefined): Cost {
    if (s === undefined) return nothing
    switch (s.kind) {
      case 'block':
        return this.#block(s)
      case 'if': {
        const [then, otherwise] = [this.#of(s.then), this.#of(s.otherwise)]
        return sum([this.#expression(s.condition), either([then, otherwise])])
      }
      case 'switch':
        return sum([this.#expression(s.selector), either(s.clauses.map((c) => this.#block(c.body)))])
      case 'loop':
        return this.#loopCost(
          s,
          sum([
            this.#block(s.body),
            this.#of(s.continuing),
            s.breakIf ? this.#expression(s.breakIf) : nothing,
          ]),
        )
      case 'for': {
        const condition = s.condition === undefined ? nothing : this.#expression(s.condition)
        const round = sum([condition, this.#block(s.body), this.#of(s.update)])
        return sum([this.#of(s.initial), this.#loopCost(s, round)])
      }
      default:
        return this.#parts(s)
    }
  }

  #block(block: Block): Cost {
    return sum(block.statements.map((s) => this.#of(s)))
  }

  #expression(e: Expression): Cost {
    return this.#parts(e)
  }

  /** The cost of the operations of an expression, or of a statement that contains no other statement. */
  #parts(part: Statement | Evaluated): Cost {
    let total = nothing
    const add = (cost: Cost) => {
      total = sum([total, cost])
    }
    walk(part, {
      expression: (e) => add(e.kind === 'call' ? this.ofFunction(e.function) : ownCost(e)),
      // Access to values in registers is free.
      place: (place) => moduleVariableOf(place) !== undefined,
      statement: (s) => {
        if (s.kind === 'assign' || s.kind === 'compound-assign')
          add(exactly(placeTicks(s.target) + (s.kind === 'compound-assign' ? words(s.target) : 0)))
      },
    })
    return total
  }

  /** The number of times the loop's body is entered, if only its condition ends it. */
  trips(loop: For | Loop): Cost {
    const most = this.#counters.mostTrips(loop) ?? Number.POSITIVE_INFINITY
    const exact = loop.kind === 'for' ? this.#counters.exactTrips(loop) : undefined
    return { least: exact ?? 0, most }
  }
}

function sum(costs: readonly Cost[]): Cost {
  return {
    least: costs.reduce((total, { least }) => total + least, 0),
    most: costs.reduce((total, { most }) => total + most, 0),
  }
}

function either(costs: readonly Cost[]): Cost {
  return {
    least: costs.reduce((least, cost) => Math.min(least, cost.least), Number.POSITIVE_INFINITY),
    most: costs.reduce((most, cost) => Math.max(most, cost.most), 0),
  }
}

/** The number of 4-byte words of a value. */
export function words({ type }: { readonly type: Type | undefined }): number {
  if (type === undefined || type.kind === 'pointer') return 1
  return type.kind === 'subgroup-matrix' ? 8 : Math.max(1, Math.ceil(sizeOf(type) / 4))
}

function exactly(ticks: number): Cost {
  return { least: ticks, most: ticks }
}

function placeTicks(place: Place): number {
  const space = moduleVariableOf(place)?.space
  if (space === 'storage') return storageTicks * Math.max(1, words(place) / 4)
  return space === 'workgroup' ? workgroupTicks * Math.max(1, words(place) / 4) : 0
}

function ownCost(e: Evaluated): Cost {
  switch (e.kind) {
    case 'load':
      return exactly(placeTicks(e.place))
    case 'binary':
      return exactly(words(e) * (e.operator === '/' || e.operator === '%' ? divisionTicks : 1))
    case 'unary':
    case 'logical':
    case 'convert':
    case 'index':
      return exactly(words(e))
    case 'builtin-call':
      if (isBarrier(e.name)) return exactly(barrierTicks)
      if (e.name.startsWith('subgroupMatrix')) return exactly(matrixTicks)
      if (isSubgroupOperation(e.name)) return exactly(collectiveTicks)
      if (e.name.startsWith('atomic')) return atomicTicks
      return exactly((quickFunctions.has(e.name) ? 1 : functionTicks) * words(e))
    default:
      return nothing
  }
}
