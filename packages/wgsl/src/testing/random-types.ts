/** The scalars of random kernels. */
export type Kind = 'u32' | 'i32' | 'bool'
/** The floats of random kernels. */
export type Float = 'f32' | 'f16'

/**
 * The subgroup operations that a random kernel has: none, those with the same results in subgroups of any
 * size, or all.
 */
export type RandomSubgroups = 'none' | 'any-size' | 'of-32'

/** The subgroup operations of the kernel with this seed. */
export function randomSubgroups(seed: number): RandomSubgroups {
  return seed % 8 === 3 ? 'any-size' : seed % 4 === 1 ? 'of-32' : 'none'
}

/** Whether the kernel with this seed has numbers of 16 bits, which SwiftShader lacks. */
export function randomHalves(seed: number): boolean {
  return seed % 16 === 6
}

/** Whether the workgroups of the kernel with this seed end with a partial subgroup. */
export function hasPartialSubgroups(seed: number): boolean {
  return seed % 16 === 5
}

/** Whether the kernel with this seed has subgroup operations that some lanes do not reach. */
export function hasDivergentSubgroups(seed: number): boolean {
  return seed % 16 === 9 || seed % 16 === 11
}

/**
 * Whether the kernel with this seed has more workgroup memory than CUDA allows in static declarations;
 * SwiftShader supports less.
 */
export function hasLargeMemory(seed: number): boolean {
  return seed % 16 === 7
}

/** Whether the kernel with this seed multiplies subgroup matrices, which SwiftShader lacks. */
export function hasMatrices(seed: number): boolean {
  return seed % 16 === 13
}

/**
 * Whether the control flow of the kernel with this seed consists only of `if` and `for`; other kernels have
 * no asynchronous copies.
 */
export function hasStraightFlow(seed: number): boolean {
  return seed % 8 === 2 || hasMatrices(seed)
}

/**
 * A type of random kernels: its WGSL name, and its parts. Matrices hold small whole numbers, so that every
 * result is exact.
 */
export interface RandomType {
  readonly name: string
  /** Set for scalars and vectors. */
  readonly kind?: Kind | Float
  readonly size?: 1 | 2 | 3 | 4
  /** Set for arrays and matrices: the element type and the number of elements. */
  readonly element?: RandomType
  readonly length?: number
  /** Set for structures. */
  readonly members?: readonly { readonly name: string; readonly type: RandomType }[]
}

const made = new Map<string, RandomType>()

/** A scalar, or a vector of `size`. */
export function vectorOf(kind: Kind | Float, size: 1 | 2 | 3 | 4): RandomType {
  const name = size === 1 ? kind : `vec${size}<${kind}>`
  let type = made.get(name)
  if (type === undefined) {
    type = { name, kind, size }
    made.set(name, type)
  }
  return type
}

export const u32 = vectorOf('u32', 1)
export const i32 = vectorOf('i32', 1)
export const bool = vectorOf('bool', 1)

export function arrayOf(element: RandomType, length: number): RandomType {
  return { name: `array<${element.name}, ${length}>`, element, length }
}

export function matrixOf(columns: number, rows: 2 | 3 | 4): RandomType {
  return { name: `mat${columns}x${rows}f`, element: vectorOf('f32', rows), length: columns }
}

const inner: RandomType = {
  name: 'Inner',
  members: [
    { name: 'a', type: i32 },
    { name: 'b', type: vectorOf('u32', 3) },
  ],
}

const outer: RandomType = {
  name: 'Outer',
  members: [
    { name: 'c', type: u32 },
    { name: 'd', type: arrayOf(inner, 2) },
    { name: 'e', type: vectorOf('i32', 2) },
    { name: 'm', type: matrixOf(2, 3) },
  ],
}

/** Types of variables that are neither scalars nor vectors. */
export const composites: readonly RandomType[] = [
  arrayOf(u32, 4),
  arrayOf(i32, 5),
  arrayOf(vectorOf('u32', 3), 3),
  arrayOf(arrayOf(i32, 3), 2),
  inner,
  outer,
  matrixOf(2, 3),
  matrixOf(3, 2),
]

/** The declarations of the structures. */
export const structures = [inner, outer]
  .map((s) => `struct ${s.name} {\n${s.members!.map((m) => `  ${m.name}: ${m.type.name},\n`).join('')}}\n`)
  .join('')
