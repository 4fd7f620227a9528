import type { Expression, ModuleVariable, Parameter, Place, Type } from '../ir.ts'
import { typeProperty } from '../type-property.ts'
import { typeName } from '../types.ts'

/**
 * The binding of a pointer parameter into module memory when its function is specialized: a path from a
 * variable, with an index parameter for each dynamic index on the path.
 */
export interface PointerBinding {
  /** Distinguishes specialisations: the variable and the path's shape. */
  readonly key: string
  /** The types of the indices, in order, starting at the variable. */
  readonly indexTypes: readonly Type[]
  /** The place that the pointer points to, given the parameters that hold the indices. */
  place(indices: readonly Parameter[]): Place
}

let types = 0

/** A number for each type, because names can be long. */
const typeNumber = typeProperty(() => types++)

/**
 * Splits the place of a pointer into the path, for which the function is specialized, and the indices, which
 * are passed as arguments.
 */
export function pathOf(
  place: Place,
  standIn: (variable: ModuleVariable) => ModuleVariable,
): { binding: PointerBinding; indices: Expression[] } {
  const indices: Expression[] = []
  const steps: string[] = []
  const passed = (e: Expression): ((parameters: readonly Parameter[]) => Expression) => {
    const position = indices.length
    indices.push(e)
    return (parameters) => {
      const value = parameters[position]!
      return { kind: 'value', value, type: value.type, loc: value.loc }
    }
  }
  const collect = (p: Place): ((parameters: readonly Parameter[]) => Place) => {
    switch (p.kind) {
      case 'variable': {
        const variable = standIn(p.variable as ModuleVariable)
        steps.push(p.type.kind === 'buffer' ? `${variable.id}:${typeNumber(p.type)}` : `${variable.id}`)
        return () => ({ ...p, variable })
      }
      case 'member-place': {
        const base = collect(p.base)
        steps.push(`.${p.member.index}`)
        return (parameters) => ({ ...p, base: base(parameters) })
      }
      case 'index-place': {
        const base = collect(p.base)
        const index = passed(p.index)
        steps.push(`[${typeName(p.index.type)}]`)
        return (parameters) => ({ ...p, base: base(parameters), index: index(parameters) })
      }
      case 'view-place': {
        const base = collect(p.base)
        const offset = passed(p.offset)
        const size = p.size && passed(p.size)
        const given = [p.offset, ...(p.size ? [p.size] : [])].map((e) => typeName(e.type))
        steps.push(`<${typeNumber(p.type)}>(${given.join(',')})`)
        return (parameters) => ({
          ...p,
          base: base(parameters),
          offset: offset(parameters),
          size: size?.(parameters),
        })
      }
      default:
        throw new TypeError(`a pointer into module memory cannot have a ${p.kind} on its path`)
    }
  }
  const build = collect(place)
  return {
    binding: { key: steps.join(''), indexTypes: indices.map((i) => i.type), place: build },
    indices,
  }
}

/** A place that a function reaches through its pointer parameter at a position. */
export function throughParameter(place: Place, parameter: number): Place {
  if (place.kind === 'variable' || place.kind === 'deref') return { ...place, parameter }
  return { ...place, base: throughParameter(place.base, parameter) }
}
