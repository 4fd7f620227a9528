import type { Expression, IrModule, ModuleVariable, Place, Statement } from '../ir.ts'
import { some, walk } from '../walk.ts'
import { type LinearForm, LinearForms } from './linear-form.ts'

/**
 * An element that each invocation certainly accesses: the one at its `global_invocation_id[axis] + offset`,
 * plus `base` if that is set.
 */
export interface InvocationAccess {
  /** The storage variable, which is or ends with a runtime-sized array. */
  readonly variable: ModuleVariable
  readonly axis: 0 | 1 | 2
  readonly offset: number
  /** The member of a uniform structure that is added to the index. */
  readonly base: string | undefined
  /** The offset of the array in the variable; the stride follows. Both are in bytes. */
  readonly byteOffset: number
  readonly strideByteLength: number
}

/**
 * Finds the elements that every invocation accesses for any data. Considers only code in the entry point
 * outside of conditions and loops, before any possible return. Other elements may be accessed too.
 */
export function findInvocationAccesses(module: IrModule): readonly InvocationAccess[] {
  const forms = new LinearForms(module)
  const id = module.entryPoint.parameters.find(({ builtin }) => builtin === 'global_invocation_id')
  if (id === undefined) return []
  const value: Expression = { kind: 'value', value: id, type: id.type, loc: id.loc }
  const axes = [0, 1, 2].map((axis) => onlyAtom(forms.component(value, axis)))
  const bases = uniformMembers(module, forms)
  const found: InvocationAccess[] = []
  const visitor = {
    expression(e: Expression) {
      if (e.kind !== 'logical') return undefined
      // The right side may not be evaluated.
      walk(e.left, visitor)
      return false
    },
    place(place: Place) {
      if (place.kind !== 'index-place') return
      const array = runtimeArray(place.base)
      const form = forms.of(place.index)
      if (array === undefined || form === undefined) return
      let axis: number | undefined
      let base: string | undefined
      for (const [atom, coefficient] of form.terms) {
        const isAxis: number = axes.indexOf(atom)
        if (coefficient !== 1) return
        if (isAxis >= 0 && axis === undefined) axis = isAxis
        else if (bases.has(atom) && base === undefined) base = bases.get(atom)
        else return
      }
      if (axis !== undefined)
        found.push({ ...array, axis: axis as 0 | 1 | 2, offset: form.constant | 0, base })
    },
  }
  const visit = (statements: readonly Statement[]): boolean =>
    statements.every((s) => {
      switch (s.kind) {
        case 'block':
          return visit(s.statements)
        case 'if':
          walk(s.condition, visitor)
          break
        case 'switch':
          walk(s.selector, visitor)
          break
        case 'for':
          // The condition is evaluated at least once.
          if (s.condition !== undefined) walk(s.condition, visitor)
          break
        case 'loop':
          break
        default:
          walk(s, visitor)
      }
      return !some(s, ({ kind }) => kind === 'return')
    })
  visit(module.entryPoint.body.statements)
  return found
}

/** The runtime-sized array of a place, if the place is one in a storage variable. */
function runtimeArray(
  place: Place,
): Pick<InvocationAccess, 'variable' | 'byteOffset' | 'strideByteLength'> | undefined {
  const { type } = place
  if (type.kind !== 'array' || type.length !== undefined) return undefined
  const [whole, byteOffset] = place.kind === 'member-place' ? [place.base, place.member.offset] : [place, 0]
  // A view of a buffer is no variable.
  if (whole.kind !== 'variable') return undefined
  return { variable: whole.variable as ModuleVariable, byteOffset, strideByteLength: type.stride }
}

/** The integer members of uniform structures, by the atom of their value. */
function uniformMembers(module: IrModule, forms: LinearForms): ReadonlyMap<object, string> {
  const members = new Map<object, string>()
  for (const variable of module.variables) {
    if (variable.space !== 'uniform' || variable.type.kind !== 'struct') continue
    const base: Place = { kind: 'variable', variable, type: variable.type, loc: variable.loc }
    for (const member of variable.type.members) {
      const place: Place = { kind: 'member-place', base, member, type: member.type, loc: variable.loc }
      const form = forms.of({ kind: 'load', place, type: member.type, loc: variable.loc })
      members.set(onlyAtom(form)!, member.name)
    }
  }
  return members
}

function onlyAtom(form: LinearForm | undefined): object | undefined {
  return form && [...form.terms.keys()][0]
}
