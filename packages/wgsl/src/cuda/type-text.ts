import type { ArrayType, ScalarKind, StructType, SubgroupMatrixType, Type, VectorType } from '../ir.ts'
import { alignOf, roundUp, scalarByteLength, sizeOf } from '../layout.ts'
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
      return `${names.prelude('array')}<unsigned, ${sizeOf(type) / 4}>`
    case 'subgroup-matrix':
      return subgroupMatrixText(type, names)
    case 'pointer':
      return `${typeText(type.store, names)}&`
  }
}

/**
 * The C++ type of a parameter. Classes are passed by references, to copies if they are in memory: see
 * `Fragment`.
 */
export function parameterText(type: Type, names: Names): string {
  return isByReference(type) ? `const ${typeText(type, names)}&` : typeText(type, names)
}

/** Whether functions take values of the type, a class in C++, by reference. */
export const isByReference = (type: Type): boolean =>
  type.kind === 'scalar' ? type.scalar === 'f16' : type.kind !== 'pointer'

/** Whether values of the type have parts that may be indexed in memory. */
export const isComposite = ({ kind }: Type): boolean =>
  kind === 'array' || kind === 'struct' || kind === 'matrix'

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

const isVec3 = (type: Type): type is VectorType => type.kind === 'vector' && type.size === 3

/** The C++ type of an element in memory: a vec3 occupies a slot of four components. */
export function elementText(type: Type, names: Names): string {
  return isVec3(type) ? `${names.prelude('slot')}<${scalarText(type.scalar, names)}>` : typeText(type, names)
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

/** Whether memory of the type contains padding, which a store must not change. */
export const hasPadding = partProperty((type) => {
  if (type.kind === 'matrix') return type.rows === 3
  if (type.kind === 'array') return sizeOf(type.element) < type.stride
  if (type.kind !== 'struct') return false
  const ends = type.members.map((m) => m.offset + sizeOf(m.type))
  return type.members.some((m, i) => m.offset !== (ends[i - 1] ?? 0)) || ends.at(-1) !== type.size
})

/**
 * The alignment of the C++ type, which differs from WGSL's for a vec3 outside arrays, since that needs no
 * 16-byte alignment, and for bools of one byte.
 */
const cxxAlign = typeProperty((type): number => {
  if (isHostShareable(type))
    return type.kind === 'vector' && type.size === 3 ? scalarByteLength[type.scalar] : alignOf(type)
  if (type.kind === 'struct') return Math.max(...type.members.map((m) => cxxAlign(m.type)))
  if (type.kind === 'array') return isVec3(type.element) ? 4 : cxxAlign(type.element)
  if (type.kind === 'vector') return type.size === 3 ? 1 : type.size
  return type.kind === 'scalar' ? 1 : alignOf(type)
})

/** The size of the C++ type; that of a subgroup matrix, of 16 or 32 bytes, up to multiples of 16. */
const cxxSize = typeProperty((type): number => {
  if (isHostShareable(type)) return sizeOf(type)
  if (type.kind === 'struct') {
    const end = type.members.reduce((at, m) => roundUp(at, cxxAlign(m.type)) + cxxSize(m.type), 0)
    return roundUp(end, cxxAlign(type))
  }
  if (type.kind === 'array') return (isVec3(type.element) ? 4 : cxxSize(type.element)) * (type.length ?? 0)
  if (type.kind === 'vector') return type.size
  return type.kind === 'scalar' ? 1 : 16
})

/**
 * The definition of a structure, with WGSL's offsets. Padding at the end is a member, because C++'s `=` copies a
 * class with constructors without padding of the compiler's, and nvcc 13.0 loses what lies behind such a copy:
 * its SROA pass replaces a `memcpy` of the beginning of a variable by a copy of the whole variable, the rest of
 * which is undefined.
 */
export function structText(type: StructType, names: Names): string[] {
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
      if (m.offset > roundUp(end, cxxAlign(m.type))) pad(m.offset - end)
      end = m.offset
    } else end = roundUp(end, cxxAlign(m.type))
    end += cxxSize(m.type)
    const align = shareable && cxxAlign(m.type) !== alignOf(m.type) && type.align % alignOf(m.type) === 0
    lines.push(
      `  ${align && m.offset % alignOf(m.type) === 0 ? `alignas(${alignOf(m.type)}) ` : ''}${typeText(m.type, names)} ${names.member(m.name)};`,
    )
    initial.push(`${names.member(m.name)}(a${i})`)
  }
  const isValue = runtimeTail(type) === undefined && !containsAtomic(type)
  const size = shareable ? type.size : cxxSize(type)
  if (size > end && runtimeTail(type) === undefined) pad(size - end)
  if (isValue && members.length > 0) {
    const parameters = members.map((m, i) => `${parameterText(m.type, names)} a${i}`).join(', ')
    lines.push(`  ${name}() = default;`)
    lines.push(
      `  ${members.length === 1 ? 'explicit ' : ''}${names.prelude('WGSL_CTOR')} ${name}(${parameters}) : ${initial.join(', ')} {}`,
    )
  }
  if (shareable && hasPadding(type) && isValue) {
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
