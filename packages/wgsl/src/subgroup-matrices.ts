import type { IrModule, Location, SubgroupMatrixType, Type } from './ir.ts'
import { typeProperty } from './type-property.ts'
import { typeName } from './types.ts'
import { walk } from './walk.ts'

/** A product of subgroup matrices that a device supports, in WebGPU's terms: M × K times K × N. */
export interface SubgroupMatrixConfig {
  readonly componentType: 'f16' | 'f32' | 'i32' | 'u32' | 'i8' | 'u8'
  readonly resultComponentType: 'f16' | 'f32' | 'i32' | 'u32' | 'i8' | 'u8'
  readonly M: number
  readonly N: number
  readonly K: number
}

/** A matrix or a product of matrices that a kernel requires of a device. */
export interface SubgroupMatrixUse {
  /** A matrix, or the result of a product. */
  readonly type: SubgroupMatrixType
  /** The left factor of a product; undefined for a matrix alone. */
  readonly left: SubgroupMatrixType | undefined
  readonly loc: Location
}

/** The distinct matrices and products in reachable code, each with its first location. */
export function findSubgroupMatrixUses(module: IrModule): SubgroupMatrixUse[] {
  const found = new Map<string, SubgroupMatrixUse>()
  const seen = new Set<Type | undefined>([undefined])
  const note = (type: Type | undefined, loc: Location, left?: SubgroupMatrixType): void => {
    if (type?.kind !== 'subgroup-matrix') {
      if (!seen.has(type)) for (const matrix of matricesIn(type!)) note(matrix, loc)
      seen.add(type)
      return
    }
    const key = `${typeName(type)} ${left === undefined ? '' : typeName(left)}`
    if (!found.has(key)) found.set(key, { type, left, loc })
  }
  for (const { parameters } of module.functions) for (const { type, loc } of parameters) note(type, loc)
  walk(module, {
    statement(s) {
      if (s.kind === 'let' || s.kind === 'var') note(s.variable.type, s.variable.loc)
    },
    expression(e) {
      note(e.type, e.loc)
      if (e.kind === 'builtin-call' && e.name.startsWith('subgroupMatrixMultiply'))
        note(e.type, e.loc, e.args[0]!.type as SubgroupMatrixType)
    },
  })
  return [...found.values()]
}

/** The subgroup matrix types that a type contains. */
const matricesIn = typeProperty((type: Type): ReadonlySet<SubgroupMatrixType> => {
  if (type.kind === 'subgroup-matrix') return new Set([type])
  if (type.kind === 'array') return matricesIn(type.element)
  if (type.kind === 'pointer') return matricesIn(type.store)
  return new Set(type.kind === 'struct' ? type.members.flatMap((m) => [...matricesIn(m.type)]) : [])
})

/** The first use that none of a device's configurations covers; undefined if the device supports all. */
export function unsupportedSubgroupMatrix(
  uses: readonly SubgroupMatrixUse[],
  configs: readonly SubgroupMatrixConfig[],
): SubgroupMatrixUse | undefined {
  return uses.find(({ type, left }) => !configs.some((config) => covers(config, type, left)))
}

function covers(
  { componentType, resultComponentType, M, N, K }: SubgroupMatrixConfig,
  { role, component, columns, rows }: SubgroupMatrixType,
  left: SubgroupMatrixType | undefined,
): boolean {
  if (role === 'left') return component === componentType && columns === K && rows === M
  if (role === 'right') return component === componentType && columns === N && rows === K
  const isResult = component === resultComponentType && columns === N && rows === M
  return isResult && (left === undefined || (left.component === componentType && left.columns === K))
}

/** The message that a use is not supported. */
export function describeSubgroupMatrixUse({ type, left }: SubgroupMatrixUse): string {
  return left === undefined
    ? `matrices of type ${typeName(type)} are not supported`
    : `the product of a ${typeName(left)} with a result of type ${typeName(type)} is not supported`
}

/** The products that kernels translated to CUDA support, on GPUs of compute capability 8.0 and higher. */
export const cudaSubgroupMatrixConfigs: readonly SubgroupMatrixConfig[] = [
  { componentType: 'f16', resultComponentType: 'f32', M: 16, N: 16, K: 16 },
  { componentType: 'f16', resultComponentType: 'f16', M: 16, N: 16, K: 16 },
  { componentType: 'i8', resultComponentType: 'i32', M: 16, N: 16, K: 32 },
]
