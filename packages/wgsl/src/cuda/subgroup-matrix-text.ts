import type { ArrayType, BuiltinCall, Expression, ModuleVariable, Place, SubgroupMatrixType } from '../ir.ts'
import { scalarByteLength } from '../layout.ts'
import { u32Type } from '../types.ts'
import { addressed, moduleVariableOf, viewOf } from '../walk.ts'
import { type CxxExpression, call, operand, operation, simple } from './cxx-expression.ts'
import { type FunctionWriter, viewName } from './function-writer.ts'
import { unsignedText } from './index-text.ts'
import { type PlaceText, placeText } from './place-text.ts'
import { settledBefore } from './settled-place.ts'
import { swizzledParts } from './swizzle-text.ts'
import { viewLengthText, viewText } from './view-text.ts'

/**
 * A call of a built-in function on subgroup matrices, and the conditions under which an access may happen.
 * Arguments and conditions are uniform in the subgroup, so all lanes still make a conditional call together.
 */
export function subgroupMatrixText(writer: FunctionWriter, e: BuiltinCall): Omit<PlaceText, 'component'> {
  const { features, names } = writer.context
  features.subgroups = true
  features.subgroupMatrices = true
  const name = names.prelude(e.name)
  if (name === 'subgroupMatrixLoad' || name === 'subgroupMatrixStore') return accessText(writer, e)
  const type = e.type as SubgroupMatrixType
  if (name.startsWith('subgroupMatrixMultiply') && type.component === 'f16')
    names.prelude('multiply_into_f16')
  const hasType = name === 'subgroupMatrixFill' || name === 'subgroupMatrixMultiply'
  const args = writer.values(e.args)
  return { value: call(hasType ? `${name}<${writer.type(type)}>` : name, args), guards: [] }
}

/** The position of a matrix in an array; offset and stride refer to evaluated values. */
interface Access {
  readonly place: Place
  readonly array: ArrayType
  readonly variable: ModuleVariable
  /** The byte length of a row or column; `slices` is the number of rows or columns. */
  readonly slice: number
  readonly slices: number
  readonly offset: Expression
  readonly stride: Expression
  /** The minimum stride: no row or column begins inside another one. */
  readonly least: number
}

function accessText(writer: FunctionWriter, e: BuiltinCall): Omit<PlaceText, 'component'> {
  const [address, offset, ...rest] = e.args as [Expression, Expression, ...Expression[]]
  const stride = rest.at(-2)!
  const isColumnMajor = (rest.at(-1) as Extract<Expression, { kind: 'literal' }>).value === true
  const type = (e.type ?? rest[0]!.type) as SubgroupMatrixType
  const operands = e.args.slice(1, -1)
  // Settled if an index writes, too: the text of a view is written twice, for the matrix and for its guard.
  const place = settledBefore(writer, addressed(address), e.args)
  const variable = moduleVariableOf(place)!
  const array = place.type as ArrayType
  const [slices, length] = isColumnMajor ? [type.columns, type.rows] : [type.rows, type.columns]
  const slice = length * scalarByteLength[type.component]
  const least = Math.ceil(slice / array.stride)
  const access = { place, array, variable, slice, slices, offset, stride, least }
  const { effects } = writer.context
  const row = writer.context.swizzles.get(variable)
  if (row !== undefined && writer.context.bounds === 'unchecked') {
    const parts = swizzledParts(writer, offset, row)
    if (parts !== undefined)
      return swizzledLoad(writer, type, isColumnMajor, row, [
        pointerText(writer, access).value,
        parts.moved,
        parts.kept,
      ])
  }
  let guards: readonly string[] = []
  const texts = writer.ordered([
    {
      expression: address,
      text: () => {
        const written = pointerText(writer, access)
        guards = written.guards
        return written.value
      },
    },
    // The effects of operands take place even if the guards skip the access.
    ...operands.map((o) => ({
      expression: o,
      text: () =>
        o === offset
          ? evaluated(writer, unsignedText(writer, o))
          : o === stride
            ? evaluated(writer, raised(writer, access))
            : effects.writes(o)
              ? simple(writer.temporary(type, writer.value(o).text))
              : writer.value(o),
    })),
  ])
  const options = `${isColumnMajor}, ${array.stride}u, ${variable.space === 'workgroup'}`
  const name = e.type === undefined ? `${e.name}<${options}>` : `${e.name}<${writer.type(type)}, ${options}>`
  const pointer = texts[0]!
  const conditions = [
    ...guards,
    ...rangeGuards(writer, access, pointer, [texts[1]!.text, texts.at(-1)!.text]),
  ]
  if (row !== undefined)
    return {
      ...swizzledLoad(writer, type, isColumnMajor, row, [pointer, texts[1]!, simple('0u')]),
      guards: conditions,
    }
  return { value: call(name, texts), guards: conditions }
}

/** Loads a matrix from a swizzled array. */
function swizzledLoad(
  writer: FunctionWriter,
  type: SubgroupMatrixType,
  isColumnMajor: boolean,
  row: number,
  args: readonly CxxExpression[],
): Omit<PlaceText, 'component'> {
  const name = writer.context.names.prelude('subgroupMatrixLoadSwizzled')
  return { value: call(`${name}<${writer.type(type)}, ${isColumnMajor}, ${row}u>`, args), guards: [] }
}

/** The value in a form that can be repeated. */
function evaluated(writer: FunctionWriter, value: CxxExpression): CxxExpression {
  return value.form === 'simple' ? value : simple(writer.temporary(u32Type, value.text))
}

function raised(writer: FunctionWriter, { stride, least }: Access): CxxExpression {
  const value = unsignedText(writer, stride)
  if (stride.kind === 'literal' && Number(stride.value) >= least) return value
  return call(writer.context.names.prelude('max'), [value, `${least}u`])
}

/** The address of the array, and the conditions under which it is valid. */
function pointerText(
  writer: FunctionWriter,
  { place, array, variable }: Access,
): Omit<PlaceText, 'component'> {
  const { value, guards } = placeText(writer, place)
  // In trap mode the last guard covers an access to the whole array; the guard for the matrix is narrower.
  const isTrapped = variable.space === 'storage' && writer.context.bounds === 'trap'
  const pointer = array.length === undefined ? value : operation(`&${operand(value)}`)
  return { value: pointer, guards: isTrapped ? guards.slice(0, -1) : guards }
}

function rangeGuards(
  writer: FunctionWriter,
  access: Access,
  pointer: CxxExpression,
  indices: readonly string[],
): string[] {
  const { bounds, names } = writer.context
  const { place, array, variable, slice, slices } = access
  const options = `<${slices}u, ${slice}u, ${array.stride}u>`
  if (bounds === 'unchecked') return []
  const view = viewOf(place)
  const elements =
    array.length !== undefined
      ? `${array.length}ull`
      : view === undefined
        ? writer.lengthOf(variable)
        : operand(viewLengthText(viewText(writer, view)))
  const bytes = `${elements} * ${array.stride}ull`
  const inside = call(`${names.prelude('matrix_inside')}${options}`, [bytes, ...indices]).text
  if (bounds !== 'trap' || variable.space !== 'storage') return [inside]
  const from = `(unsigned long long)((const char*)${operand(pointer)} - (const char*)${names.of(variable)})`
  const args = [viewName(names, variable), from, ...indices]
  const inBinding = call(`${names.prelude('matrix_in_view')}${options}`, args).text
  // The binding may go on behind the array.
  return [`(${inside} || ${viewName(names, variable)}.report(${indices[0]}))`, inBinding]
}
