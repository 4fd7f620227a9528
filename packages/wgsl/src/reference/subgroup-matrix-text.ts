import type { ArrayType, BuiltinCall } from '../ir.ts'
import { addressed, rootOf } from '../walk.ts'
import { boundLength, byteOffset, type PlaceWriter, pathText } from './place-text.ts'
import { boundMemory } from './views.ts'

/**
 * An operation on subgroup matrices: the code that an invocation evaluates first, and the exchange with which
 * it waits for the others.
 */
export interface SubgroupMatrixText {
  readonly prepare: string
  /** The members `args` and `once` of an `Exchange`. */
  readonly waiting: string
}

/** A call of a built-in function on subgroup matrices, which is executed once for the subgroup. */
export function subgroupMatrixText(writer: PlaceWriter, e: BuiltinCall): SubgroupMatrixText {
  if (e.name === 'subgroupMatrixLoad' || e.name === 'subgroupMatrixStore') return accessText(writer, e)
  const values = e.args.map((a) => writer.value(a))
  return { prepare: '', waiting: `args: [${values.join(', ')}], once: ${workText(writer, e)}` }
}

function workText(writer: PlaceWriter, { name, type }: BuiltinCall): string {
  const result = writer.type(type!)
  switch (name) {
    case 'subgroupMatrixFill':
      return `(a) => R.fillMatrix(${result}, a[0])`
    case 'subgroupMatrixMultiply':
    case 'subgroupMatrixMultiplyAccumulate':
      return `(a) => R.multiplyMatrices(${result}, a[0], a[1], a[2])`
    default:
      return `(a) => R.combineWithScalar(${result}, '${name.slice('subgroupMatrixScalar'.length)}', a[0], a[1])`
  }
}

function accessText(writer: PlaceWriter, { name, args, type }: BuiltinCall): SubgroupMatrixText {
  const isLoad = name === 'subgroupMatrixLoad'
  const place = addressed(args[0]!)
  const array = place.type as ArrayType
  const matrix = writer.type(isLoad ? type! : args[2]!.type)
  const memory = boundMemory(rootOf(place))
  const prepare: string[] = []
  const steps: (string | number)[] = []
  const [source, base] = [writer.temporary(), writer.temporary()]
  let found: string
  if (memory === undefined) {
    const path = pathText(writer, place, prepare, steps)
    found = `R.plainArray(${path}, ${writer.type(array)}, ${matrix})`
  } else {
    const offset = byteOffset(writer, place, memory, prepare)
    const elements = boundLength(writer, place, memory, base)
    prepare.push(`${base} = ${offset}; `)
    const report = writer.instrumentation.outside(place, 'i', elements)
    found = `R.boundArray(${memory}, ${base}, ${elements}, ${writer.type(array)}, ${matrix}, ${report && `(i) => ${report}`})`
  }
  const operands = args.slice(1).map((a) => {
    const value = writer.temporary()
    prepare.push(`${value} = ${writer.value(a)}; `)
    return value
  })
  // Last, because the operands may replace the JavaScript array.
  prepare.push(`${source} = ${found}; `)
  if (memory === undefined && writer.instrumentation.observes) {
    const range = `${operands[0]}, ${operands.at(-2)}, ${operands.at(-1)}`
    const touched = writer.instrumentation.touched(place, [...steps, 'i'], isLoad ? 'load' : 'store')
    prepare.push(
      `R.touchedElements(${matrix}, ${source}, ${range}).forEach((i) => ${touched.slice(0, -2)}); `,
    )
  }
  return {
    prepare: prepare.map((p) => `${p.slice(0, -2)}, `).join(''),
    waiting: `args: [${operands.join(', ')}], once: (a) => R.${isLoad ? 'loadMatrix' : 'storeMatrix'}(${matrix}, ${source}, ...a)`,
  }
}
