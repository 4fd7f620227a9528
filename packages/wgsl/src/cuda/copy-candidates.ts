import type { Effects } from '../analysis/effects.ts'
import type { Assign, IrModule, ModuleVariable, Place } from '../ir.ts'
import { rootOf, walk } from '../walk.ts'

/** The statements `tile[i] = buffer[j]` of 16 bytes from read-only storage to workgroup memory. */
export function copyCandidates(module: IrModule, effects: Effects): Set<Assign> {
  const candidates = new Set<Assign>()
  walk(module, {
    statement(s) {
      if (s.kind === 'assign' && isCandidate(s, effects)) candidates.add(s)
      return undefined
    },
  })
  return candidates
}

function isCandidate({ target, value }: Assign, effects: Effects): boolean {
  const { type } = target
  if (type.kind !== 'vector' || type.size !== 4 || type.scalar === 'bool' || type.scalar === 'f16')
    return false
  if (value.kind !== 'load' || effects.writes(value) || !isElement(value.place)) return false
  const from = moduleVariableOf(value.place)
  if (from?.space !== 'storage' || from.access !== 'read' || from.type.kind === 'buffer') return false
  let place: Place = target
  while (place.kind === 'index-place') {
    if (place.base.type.kind !== 'array' || effects.writes(place.index)) return false
    place = place.base
  }
  return place !== target && moduleVariableOf(place)?.space === 'workgroup' && place.kind === 'variable'
}

function isElement(place: Place): boolean {
  return place.kind === 'index-place' && place.base.type.kind === 'array'
}

/** The module's variable in which a place lies. */
export function moduleVariableOf(place: Place): ModuleVariable | undefined {
  const root = rootOf(place)
  return root.kind === 'variable' && root.variable.kind === 'module-variable' ? root.variable : undefined
}
