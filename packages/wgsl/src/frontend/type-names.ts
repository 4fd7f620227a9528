import type { SubgroupMatrixRole, Type } from '../ir.ts'
import { boolType, f16Type, f32Type, i32Type, matrixType, u32Type, vectorType } from '../types.ts'

/** The predeclared types that need no template arguments: scalars and the aliases of vectors and matrices. */
export const plainTypes: ReadonlyMap<string, Type> = makePlainTypes()

function makePlainTypes(): Map<string, Type> {
  const types = new Map<string, Type>([
    ['bool', boolType],
    ['i32', i32Type],
    ['u32', u32Type],
    ['f32', f32Type],
    ['f16', f16Type],
  ])
  const letters = { i: 'i32', u: 'u32', f: 'f32', h: 'f16' } as const
  for (const columns of [2, 3, 4] as const) {
    for (const [letter, scalar] of Object.entries(letters))
      types.set(`vec${columns}${letter}`, vectorType(columns, scalar))
    for (const rows of [2, 3, 4] as const) {
      types.set(`mat${columns}x${rows}f`, matrixType(columns, rows, 'f32'))
      types.set(`mat${columns}x${rows}h`, matrixType(columns, rows, 'f16'))
    }
  }
  return types
}

/** The type that a generator such as `vec3`, `mat2x4` or `array` creates. */
export type TypeGenerator =
  | { kind: 'vector'; size: 2 | 3 | 4 }
  | { kind: 'matrix'; columns: 2 | 3 | 4; rows: 2 | 3 | 4 }
  | { kind: 'array' | 'atomic' | 'pointer' | 'buffer' }
  | { kind: 'subgroup-matrix'; role: SubgroupMatrixRole }

/** The predeclared types that take template arguments. */
export function typeGenerator(name: string): TypeGenerator | undefined {
  const vector = /^vec([234])$/.exec(name)
  if (vector) return { kind: 'vector', size: Number(vector[1]) as 2 }
  const matrix = /^mat([234])x([234])$/.exec(name)
  if (matrix) return { kind: 'matrix', columns: Number(matrix[1]) as 2, rows: Number(matrix[2]) as 2 }
  if (name === 'array' || name === 'atomic' || name === 'buffer') return { kind: name }
  const role = /^subgroup_matrix_(left|right|result)$/.exec(name)?.[1]
  if (role !== undefined) return { kind: 'subgroup-matrix', role: role as SubgroupMatrixRole }
  return name === 'ptr' ? { kind: 'pointer' } : undefined
}

/** Whether a name is a predeclared type that this compiler does not support. */
export function isTextureType(name: string): boolean {
  return /^(texture_|(sampler(_comparison)?|binding_array|texel_buffer)$)/.test(name)
}
