import type { Expression, IrModule, ModuleVariable, Place, Statement } from '../ir.ts'
import { moduleVariableOf, some, walk } from '../walk.ts'
import { type LinearForm, LinearForms } from './linear-form.ts'

/**
 * An element that each invocation reaches for certain: the one at its `global_invocation_id[axis] + offset`,
 * plus `base` where that is set.
 */
export interface InvocationAccess {
  /** The storage variable, which is an array whose length is known at run time, or ends with one. */
  readonly variable: ModuleVariable
  readonly axis: 0 | 1 | 2
  readonly offset: number
  /** The member of a uniform structure that is added to the index. */
  readonly base: string | undefined
  /** Where the array begins in the variable, and from one element to the next, in bytes. */
  readonly byteOffset: number
  readonly strideByteLength: number
}

/**
 * Which elements does every invocation reach, whatever the data? Only what stands in the entry point outside
 * conditions and loops, before anything that may return, counts; what is missing here may still be reached.
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
      // The right side may be skipped.
      walk(e.left, visitor)
      return false
    },
    place(place: Place) {
      const array = place.kind === 'index-place' ? runtimeArray(place.base) : undefined
      const form = place.kind === 'index-place' && array !== undefined ? forms.of(place.index) : undefined
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
          // The condition is evaluated once at least.
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

/** The array of unknown length that a place is, if it is one in a storage variable. */
function runtimeArray(
  place: Place,
): Pick<InvocationAccess, 'variable' | 'byteOffset' | 'strideByteLength'> | undefined {
  const variable = moduleVariableOf(place)
  if (variable?.space !== 'storage') return undefined
  if (place.type.kind !== 'array' || place.type.length !== undefined) return undefined
  const { stride: strideByteLength } = place.type
  if (place.kind === 'variable') return { variable, byteOffset: 0, strideByteLength }
  if (place.kind !== 'member-place' || place.base.kind !== 'variable') return undefined
  return { variable, byteOffset: place.member.offset, strideByteLength }
}

/** The integer members of uniform structures, by the atom that stands for their value. */
function uniformMembers(module: IrModule, forms: LinearForms): ReadonlyMap<object, string> {
  const members = new Map<object, string>()
  for (const variable of module.variables) {
    if (variable.space !== 'uniform' || variable.type.kind !== 'struct') continue
    const base: Place = { kind: 'variable', variable, type: variable.type, loc: variable.loc }
    for (const member of variable.type.members) {
      const place: Place = { kind: 'member-place', base, member, type: member.type, loc: variable.loc }
      const atom = onlyAtom(forms.of({ kind: 'load', place, type: member.type, loc: variable.loc }))
      if (atom !== undefined) members.set(atom, member.name)
    }
  }
  return members
}

function onlyAtom(form: LinearForm | undefined): object | undefined {
  return form && [...form.terms.keys()][0]
}
