import type { Random } from './random.ts'

/** The scalar types of WGSL. */
export type Scalar = 'bool' | 'i32' | 'u32' | 'f32' | 'f16'
/** A type of a random module. */
export type Shape =
  | { readonly kind: 'scalar'; readonly scalar: Scalar }
  | { readonly kind: 'vector'; readonly scalar: Scalar; readonly size: 2 | 3 | 4 }
  | {
      readonly kind: 'matrix'
      readonly scalar: 'f32' | 'f16'
      readonly columns: 2 | 3 | 4
      readonly rows: 2 | 3 | 4
    }
  | { readonly kind: 'array'; readonly element: Shape; readonly length: number }
  | {
      readonly kind: 'struct'
      readonly name: string
      readonly members: readonly { name: string; type: Shape }[]
    }

/** A scalar type. */
export const scalar = (s: Scalar): Shape => ({ kind: 'scalar', scalar: s })
/** Sizes of vectors and matrices. */
export const sizes = [2, 3, 4] as const

/** The type in WGSL. */
export function typeText(type: Shape): string {
  switch (type.kind) {
    case 'scalar':
      return type.scalar
    case 'vector':
      return `vec${type.size}<${type.scalar}>`
    case 'matrix':
      return `mat${type.columns}x${type.rows}<${type.scalar}>`
    case 'array':
      return `array<${typeText(type.element)}, ${type.length}>`
    case 'struct':
      return type.name
  }
}

/** When an expression is evaluated; each stage may use everything that earlier stages may use. */
export type Stage = 'const' | 'override' | 'runtime'
export const stages: readonly Stage[] = ['const', 'override', 'runtime']

/** A name that expressions can use. */
export interface Name {
  readonly name: string
  readonly type: Shape
  readonly stage: Stage
  /** Whether it may be assigned to. */
  readonly mutable: boolean
}

/** A type; if `depth` is above 0, it may be an array or one of the structures. */
export function randomType(r: Random, depth: number, structs: readonly Shape[]): Shape {
  const s = r.pick<Scalar>(['i32', 'u32', 'f32', 'i32', 'u32', 'f32', 'bool', 'f16'])
  switch (r.below(depth > 0 ? 9 : 6)) {
    case 0:
    case 1:
    case 2:
      return scalar(s)
    case 3:
    case 4:
      return { kind: 'vector', scalar: s, size: r.pick(sizes) }
    case 5:
      return {
        kind: 'matrix',
        scalar: r.oneIn(4) ? 'f16' : 'f32',
        columns: r.pick(sizes),
        rows: r.pick(sizes),
      }
    case 6:
    case 7:
      return { kind: 'array', element: randomType(r, depth - 1, structs), length: 1 + r.below(4) }
    default:
      return structs.length > 0 ? r.pick(structs) : scalar(s)
  }
}

/** A literal of a scalar type, occasionally at the limit of its range. */
export function literal(r: Random, s: Scalar): string {
  const edge = r.oneIn(60)
  const suffix = r.oneIn(3)
  switch (s) {
    case 'bool':
      return r.pick(['true', 'false'])
    case 'i32':
      return `${edge ? r.pick(['2147483647', '-2147483648', '-1', '65536']) : r.below(9)}${suffix ? 'i' : ''}`
    case 'u32':
      return `${edge ? r.pick(['4294967295', '2147483648', '31', '32']) : r.below(9)}${suffix ? 'u' : ''}`
    case 'f32':
      return `${edge ? r.pick(['1e38', '3.4028234e38', '1e-40', '16777217.0', '-0.0']) : `${r.below(9)}.${r.below(99)}`}${suffix ? 'f' : ''}`
    case 'f16':
      return `${edge ? r.pick(['65504.0', '1e-7', '-2049.0']) : `${r.below(9)}.${r.below(9)}`}${suffix ? 'h' : ''}`
  }
}
