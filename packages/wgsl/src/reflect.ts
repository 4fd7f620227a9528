import { type BoundVariable, boundVariables } from './bound-variables.ts'
import { builtinFacts } from './builtin-functions.ts'
import type {
  BuiltinValue,
  IrModule,
  KernelFeature,
  ModuleVariable,
  ScalarKind,
  StructType,
  Type,
} from './ir.ts'
import { alignOf, roundUp, sizeOf } from './layout.ts'
import { findSubgroupMatrixUses, type SubgroupMatrixUse } from './subgroup-matrices.ts'
import { containsAtomic, typeProperty } from './type-property.ts'
import { arrayType, typeName, u32Type } from './types.ts'
import { moduleVariableOf, walk } from './walk.ts'
import type { WgslWarning } from './wgsl-error.ts'

/**
 * Uniform members such as `x_base` and `x_stride` describe the position of the view that is bound as `x`;
 * `@tandem-gpu/core` fills them in.
 */
export const automaticSuffixes = ['base', 'stride', 'rows', 'columns', 'length'] as const

/** The scalar kind of a type's components; `mixed` for structures of several kinds. */
export type ReflectedScalar = ScalarKind | 'mixed'

/** A type as the host sees it; a `buffer` appears as an array of u32. */
export interface ReflectedType {
  /** The WGSL spelling: `array<vec4f>`. */
  readonly name: string
  readonly kind: 'scalar' | 'vector' | 'matrix' | 'atomic' | 'array' | 'struct'
  /** For arrays: the element's spelling. */
  readonly elementType: string | undefined
  /** The kind of all scalars inside, however deep. */
  readonly scalar: ReflectedScalar
  /** Scalars in one element of an array, or in the whole of other types; padding not counted. */
  readonly components: number
  /** For arrays: bytes from element to element. */
  readonly stride: number | undefined
  /** Total byte length; a runtime-sized array counts as one element. */
  readonly size: number
  /** For arrays of fixed length: the length. */
  readonly length: number | undefined
  /** Whether there are atomics inside. */
  readonly atomic: boolean
  /** For matrices: how many columns of `components / columns` scalars there are. */
  readonly columns: number | undefined
  /** For matrices: bytes from column to column. */
  readonly columnStride: number | undefined
  /** For arrays: the element. */
  readonly element: ReflectedType | undefined
  /** For structures: the members. */
  readonly members: readonly ReflectedMember[] | undefined
}

/** A member of a structure in a binding; `type` is the WGSL spelling, `offset` in bytes. */
export interface ReflectedMember extends Omit<ReflectedType, 'name'> {
  readonly name: string
  readonly type: string
  readonly offset: number
}

/** A storage or uniform buffer of the entry point. */
export interface Binding {
  readonly name: string
  readonly group: number
  readonly binding: number
  readonly space: 'storage' | 'uniform'
  /** As declared. */
  readonly access: 'read' | 'read_write'
  /** Whether reachable code reads it. Atomics both read and write; `arrayLength` does neither. */
  readonly reads: boolean
  readonly writes: boolean
  readonly type: ReflectedType
  /** The minimum number of bytes to bind: the size, with one element for a runtime-sized array. */
  readonly minByteLength: number
  /** For structures: the members. */
  readonly members: readonly ReflectedMember[] | undefined
}

/** The information that a host needs to run an entry point. */
export interface Reflection {
  readonly entryPoint: string
  readonly workgroupSize: readonly [number, number, number]
  /** Bytes of workgroup memory, each variable rounded up to 16 as WebGPU counts it. */
  readonly workgroupMemoryByteLength: number
  /** In order of group and binding. */
  readonly bindings: readonly Binding[]
  readonly overrides: readonly {
    readonly name: string
    readonly id: number | undefined
    readonly type: ScalarKind
    readonly default: number | boolean | undefined
  }[]
  readonly features: readonly KernelFeature[]
  /** The subgroup matrices and products that a device must support. */
  readonly subgroupMatrices: readonly SubgroupMatrixUse[]
  /** The built-in values that the entry point receives. */
  readonly builtins: readonly BuiltinValue[]
  /** Whether reachable code has a workgroupBarrier or a workgroupUniformLoad, which contains one. */
  readonly callsWorkgroupBarrier: boolean
  /**
   * Warnings that the WGSL specification requires, such as for operations that a `diagnostic` filter allows
   * in divergent control flow.
   */
  readonly warnings: readonly WgslWarning[]
}

/** Describes the bindings, memory and features of a lowered entry point. */
export function reflect(ir: IrModule): Reflection {
  const { reads, writes, barrier } = accesses(ir)
  const bindings = boundVariables(ir).map((v) =>
    describeBinding(v, reads.has(v), writes.has(v), ir.viewedBytes.get(v) ?? 0),
  )
  const workgroup = ir.variables.filter((v) => v.space === 'workgroup')
  return {
    entryPoint: ir.entryPoint.name,
    workgroupSize: ir.workgroupSize,
    workgroupMemoryByteLength: workgroup.reduce((sum, v) => sum + roundUp(sizeOf(v.type), 16), 0),
    bindings,
    overrides: ir.overrides.map((o) => ({ name: o.name, id: o.id, type: o.type.scalar, default: o.default })),
    features: ir.features,
    subgroupMatrices: findSubgroupMatrixUses(ir),
    builtins: [...new Set(ir.entryPoint.parameters.map((p) => p.builtin!))],
    callsWorkgroupBarrier: barrier,
    warnings: ir.warnings,
  }
}

/** Which module variables the functions read and write, and whether they wait at workgroup barriers. */
function accesses(ir: IrModule): {
  reads: Set<ModuleVariable>
  writes: Set<ModuleVariable>
  barrier: boolean
} {
  const reads = new Set<ModuleVariable>()
  const writes = new Set<ModuleVariable>()
  let barrier = false
  walk(ir, {
    place(place, use) {
      const variable = moduleVariableOf(place)
      if (variable === undefined || use === 'measure') return
      if (use !== 'store') reads.add(variable)
      if (use !== 'load') writes.add(variable)
    },
    expression(e) {
      barrier ||=
        e.kind === 'builtin-call' &&
        (e.name === 'workgroupBarrier' || builtinFacts[e.name].barrier === 'around')
    },
  })
  return { reads, writes, barrier }
}

function describeBinding(v: BoundVariable, reads: boolean, writes: boolean, viewed: number): Binding {
  const type = describe(v.type)
  return {
    name: v.name,
    ...v.binding,
    space: v.space as 'storage' | 'uniform',
    access: v.access as 'read' | 'read_write',
    reads,
    writes,
    type,
    minByteLength: Math.max(minimumSize(v.type), roundUp(viewed, 4)),
    members: type.members,
  }
}

function describeMember({ name, type, offset }: StructType['members'][number]): ReflectedMember {
  return { ...describe(type), name, type: typeName(type), offset }
}

/** Descriptions are cached by type, because nested structures can contain the same type many times. */
const describe = typeProperty((type: Type): ReflectedType => {
  if (type.kind === 'pointer' || type.kind === 'subgroup-matrix')
    throw new TypeError(`a buffer holds no ${type.kind}`)
  if (type.kind === 'buffer') {
    const words = arrayType(u32Type, type.length === undefined ? undefined : sizeOf(type) / 4)
    return { ...describe(words), name: typeName(type) }
  }
  const array = type.kind === 'array' ? type : undefined
  return {
    name: typeName(type),
    kind: type.kind,
    elementType: array && typeName(array.element),
    scalar: scalarInside(type),
    components: componentsIn(array?.element ?? type),
    stride: array?.stride,
    size: minimumSize(type),
    length: array?.length,
    atomic: containsAtomic(type),
    columns: type.kind === 'matrix' ? type.columns : undefined,
    columnStride: type.kind === 'matrix' ? sizeOf(type) / type.columns : undefined,
    element: array && describe(array.element),
    members: type.kind === 'struct' ? type.members.map(describeMember) : undefined,
  }
})

/** The byte length with one element for a runtime-sized array at the end. */
const minimumSize = typeProperty((type: Type): number => {
  if (type.kind === 'array' && type.length === undefined) return type.stride
  if (type.kind === 'buffer') return Math.max(4, sizeOf(type))
  if (type.kind !== 'struct') return sizeOf(type)
  const last = type.members.at(-1)!
  return roundUp(Math.max(type.size, last.offset + minimumSize(last.type)), alignOf(type))
})

const scalarInside = typeProperty((type: Type): ReflectedScalar => {
  if (type.kind === 'array') return scalarInside(type.element)
  if (type.kind === 'pointer' || type.kind === 'buffer' || type.kind === 'subgroup-matrix') return 'mixed'
  if (type.kind !== 'struct') return type.scalar
  const kinds = new Set(type.members.map((m) => scalarInside(m.type)))
  return kinds.size === 1 ? [...kinds][0]! : 'mixed'
})

const componentsIn = typeProperty((type: Type): number => {
  switch (type.kind) {
    case 'vector':
      return type.size
    case 'atomic':
      return type.wide ? 2 : 1
    case 'matrix':
      return type.columns * type.rows
    case 'array':
      return componentsIn(type.element) * (type.length ?? 1)
    case 'struct':
      return type.members.reduce((sum, m) => sum + componentsIn(m.type), 0)
    default:
      return 1
  }
})
