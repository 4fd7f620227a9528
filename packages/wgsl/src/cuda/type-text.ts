import type { ArrayType, ScalarKind, StructType, SubgroupMatrixType, Type } from '../ir.ts'
import { alignOf, roundUp, sizeOf } from '../layout.ts'
import { containsAtomic, isHostShareable, partProperty, typeProperty } from '../type-property.ts'
import type { Names } from './names.ts'

const scalarNames = { bool: 'bool', i32: 'int', u32: 'unsigned', f32: 'float' } as const

const scalarSuffixes: Record<ScalarKind, string> = { bool: 'b', i32: 'i', u32: 'u', f32: 'f', f16: 'h' }

function scalarText(scalar: ScalarKind, names: Names): string {
  return scalar === 'f16' ? names.prelude('f16') : scalarNames[scalar]
}

/** The C++ type of a value, or of memory that holds one: both have WGSL's layout. */
export function typeText(type: Type, names: Names): string {
  switch (type.kind) {
    case 'scalar':
      return scalarText(type.scalar, names)
    case 'atomic':
      return type.wide ? 'unsigned long long' : scalarText(type.scalar, names)
    case 'vector':
      return names.prelude(`vec${type.size}${scalarSuffixes[type.scalar]}`)
    case 'matrix':
      return `${names.prelude('mat')}<${scalarText(type.scalar, names)}, ${type.columns}, ${type.rows}>`
    case 'array':
      if (type.length === undefined) throw new TypeError('a runtime-sized array has no C++ type')
      return arrayText(type, type.length, names)
    case 'struct':
      return names.struct(type)
    case 'buffer':
      if (type.length === undefined) throw new TypeError('a buffer without length has no C++ type')
      return `${names.prelude('array')}<unsigned, ${type.length / 4}>`
    case 'subgroup-matrix':
      return subgroupMatrixText(type, names)
    case 'pointer':
      return `${typeText(type.store, names)}&`
  }
}

/**
 * Compilers limit template nesting to about 200 levels. In a deeper nest of arrays, the size of an inner
 * array is evaluated before that of the array around it.
 */
function arrayText(type: ArrayType, length: number, names: Names): string {
  const element = typeText(type.element, names)
  const count = arrayDepth(type) % 128 === 0 ? `${length} * (sizeof(${element}) != 0)` : length
  return `${names.prelude('array')}<${element}, ${count}>`
}

/** The nesting depth of an array, including itself. */
const arrayDepth = typeProperty((type): number => (type.kind === 'array' ? arrayDepth(type.element) + 1 : 0))

/** The C++ type of a subgroup matrix in `cudaSubgroupMatrixConfigs`; `emitCuda` rejects others. */
function subgroupMatrixText({ role, component }: SubgroupMatrixType, names: Names): string {
  if (component === 'f32' || component === 'i32') return names.prelude(`matrix_${component}`)
  if (component === 'i8') return `${names.prelude('matrix_i8')}<${role === 'left' ? 0 : 1}>`
  return `${names.prelude('matrix_f16')}<${['left', 'right', 'result'].indexOf(role)}>`
}

/** The C++ type of an element in memory: a vec3 occupies a slot of four components. */
export function elementText(type: Type, names: Names): string {
  return type.kind === 'vector' && type.size === 3
    ? `${names.prelude('slot')}<${scalarText(type.scalar, names)}>`
    : typeText(type, names)
}

/** The zero value. */
export function zeroText(type: Type, names: Names): string {
  if (type.kind !== 'scalar') return `${typeText(type, names)}{}`
  if (type.scalar === 'f16') return `${names.prelude('f16_bits')}(0)`
  return { bool: 'false', i32: '0', u32: '0u', f32: '0.0f' }[type.scalar]
}

/** The last member of a structure, if it is a runtime-sized array. */
export function runtimeTail(type: Type): StructType['members'][number] | undefined {
  const last = type.kind === 'struct' ? type.members.at(-1) : undefined
  return last !== undefined && last.type.kind === 'array' && last.type.length === undefined ? last : undefined
}

/** Whether memory of the type contains padding, or may, since C++ lays out what WGSL does not. */
export const hasPadding = partProperty((type) => {
  if (type.kind === 'matrix') return type.rows === 3
  if (type.kind === 'array') return sizeOf(type.element) < type.stride
  if (type.kind !== 'struct') return false
  if (!isHostShareable(type)) return true
  const ends = type.members.map((m) => m.offset + sizeOf(m.type))
  return type.members.some((m, i) => m.offset !== (ends[i - 1] ?? 0)) || ends.at(-1) !== type.size
})

/**
 * The alignment of the C++ type, which differs from WGSL's only for a vec3 outside arrays, since that needs
 * no 16-byte alignment.
 */
function cxxAlign(type: Type): number {
  if (type.kind === 'vector' && type.size === 3) return alignOf({ ...type, size: 2 }) / 2
  return alignOf(type)
}

/** The definition of a structure, with WGSL's offsets; `isInner` if another structure contains it. */
export function structText(type: StructType, names: Names, isInner: boolean): string[] {
  const name = names.struct(type)
  const shareable = isHostShareable(type)
  const members = type.members.filter((m) => m !== runtimeTail(type))
  const lines = [`struct ${shareable ? `alignas(${type.align}) ` : ''}${name} {`]
  let pads = 0
  /** Initializers of members and padding, in the order of declaration. */
  const initial: string[] = []
  const pad = (byteLength: number) => {
    lines.push(`  unsigned char pad${pads}[${byteLength}];`)
    initial.push(`pad${pads++}{}`)
  }
  let end = 0
  for (const [i, m] of members.entries()) {
    if (shareable) {
      const natural = roundUp(end, cxxAlign(m.type))
      if (m.offset > natural) pad(m.offset - end)
      end = m.offset + sizeOf(m.type)
    }
    const align = shareable && cxxAlign(m.type) !== alignOf(m.type) && type.align % alignOf(m.type) === 0
    lines.push(
      `  ${align && m.offset % alignOf(m.type) === 0 ? `alignas(${alignOf(m.type)}) ` : ''}${typeText(m.type, names)} ${names.member(m.name)};`,
    )
    initial.push(`${names.member(m.name)}(a${i})`)
  }
  const isValue = runtimeTail(type) === undefined && !containsAtomic(type)
  if (shareable && type.size > roundUp(end, type.align) && runtimeTail(type) === undefined)
    pad(type.size - end)
  if (isValue && members.length > 0) {
    const parameters = members.map((m, i) => `${typeText(m.type, names)} a${i}`).join(', ')
    lines.push(`  ${name}() = default;`)
    lines.push(
      `  ${members.length === 1 ? 'explicit ' : ''}${names.prelude('WGSL_CTOR')} ${name}(${parameters}) : ${initial.join(', ')} {}`,
    )
  }
  if ((shareable || isInner) && hasPadding(type) && isValue) {
    const stores = members.map(
      (m) => `${names.prelude('store_padded')}(to.${names.member(m.name)}, ${names.member(m.name)});`,
    )
    lines.push(`  __device__ __forceinline__ void store_to(${name}& to) const { ${stores.join(' ')} }`)
  }
  lines.push('};')
  if (shareable && runtimeTail(type) === undefined)
    lines.push(`static_assert(sizeof(${name}) == ${type.size}, "layout");`)
  return lines
}
