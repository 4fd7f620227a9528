/** Properties of a built-in function other than the value of its result. */
interface BuiltinEffects {
  /**
   * How it uses the memory that its first argument points to. `measure` reads the length only and accesses no
   * memory.
   */
  readonly pointer?: 'load' | 'store' | 'load-store' | 'measure'
  /** Whether its access is atomic. */
  readonly isAtomic?: true
  /** The invocations that must make the call together. */
  readonly together?: 'workgroup' | 'subgroup'
  /** The arguments, counted from 0, that must be uniform among these invocations; none without `together`. */
  readonly uniformArguments?: 'all' | readonly number[]
  /**
   * `alone` if the function only executes one workgroup barrier, `around` if it executes one before and one
   * after its access.
   */
  readonly barrier?: 'alone' | 'around'
  /**
   * The scope in which its result may vary even if its arguments and the control flow are uniform; unset if
   * it does not vary then. `never` means that the result is uniform for any arguments.
   */
  readonly varies?: 'never' | 'in the workgroup' | 'everywhere'
  /** How its integer result depends on its arguments; any integer of its type if unset. */
  readonly gives?: 'least' | 'greatest' | 'clamped' | 'either'
  /** Set if its second argument is a lane, a distance or a mask below `limit`. */
  readonly lane?: { readonly limit: number; readonly isConstant: boolean }
  /** Whether it works on subgroup matrices. */
  readonly isMatrix?: true
}

/**
 * The arguments of a built-in function: a pointer and `values` values of the type that it points to; subgroup
 * matrices; or one of these overloads, `class: parameters -> result`. S is a scalar of the class; T is S or a
 * vector of S; V a vector of S, V3 one of three; M a matrix of S, Q a square one; `T:bool` has T's shape with
 * other components; I is i32 or u32; the rest are types. The result may also be `frexp` or `modf` of T, or
 * `Mt`.
 */
type BuiltinArguments =
  | { readonly values: number }
  | { readonly isMatrix: true }
  | { readonly overloads: readonly string[] }

export type BuiltinFacts = BuiltinEffects & BuiltinArguments

const takes = (...overloads: string[]) => ({ overloads })
const componentwise = takes('float: T -> T')
const ofTwo = takes('float: T T -> T')
const ofThree = takes('float: T T T -> T')
const ofInteger = takes('integer: T -> T')
const ofVectors = takes('float: V V -> V')
const atomic = { isAtomic: true, varies: 'everywhere' } as const
const changesAtomic = { ...atomic, pointer: 'load-store', values: 1 } as const
const barrier = {
  ...takes(': -> nothing'),
  together: 'workgroup',
  barrier: 'alone',
  varies: 'never',
} as const
const concrete = takes('concrete: T -> T')
const ofLane = takes('concrete: T I -> T')
const together = { together: 'subgroup', varies: 'everywhere' } as const
const subgroup = { ...concrete, ...together } as const
/** The result is the same for all invocations of a subgroup if the arguments are. */
const shared = { together: 'subgroup', varies: 'in the workgroup' } as const
const lane = { limit: 128, isConstant: false }
const shifted = { ...together, ...takes('concrete: T u32 -> T'), lane, uniformArguments: [1] } as const
const matrix = { together: 'subgroup', isMatrix: true, uniformArguments: 'all' } as const

const table = {
  // logical and array
  all: takes('bool: T -> bool'),
  any: takes('bool: T -> bool'),
  select: { ...takes('any: T T bool -> T', 'any: V V V:bool -> V'), gives: 'either' },
  arrayLength: { pointer: 'measure', values: 0 },
  bufferLength: { pointer: 'measure', values: 0 },
  // numeric
  abs: takes('number: T -> T'),
  acos: componentwise,
  acosh: componentwise,
  asin: componentwise,
  asinh: componentwise,
  atan: componentwise,
  atanh: componentwise,
  atan2: ofTwo,
  ceil: componentwise,
  clamp: { ...takes('number: T T T -> T'), gives: 'clamped' },
  cos: componentwise,
  cosh: componentwise,
  countLeadingZeros: ofInteger,
  countOneBits: ofInteger,
  countTrailingZeros: ofInteger,
  cross: takes('float: V3 V3 -> V3'),
  degrees: componentwise,
  determinant: takes('float: Q -> S'),
  distance: takes('float: T T -> S'),
  dot: takes('number: V V -> S'),
  dot4U8Packed: takes(': u32 u32 -> u32'),
  dot4I8Packed: takes(': u32 u32 -> i32'),
  exp: componentwise,
  exp2: componentwise,
  extractBits: takes('integer: T u32 u32 -> T'),
  faceForward: takes('float: V V V -> V'),
  firstLeadingBit: ofInteger,
  firstTrailingBit: ofInteger,
  floor: componentwise,
  fma: ofThree,
  fract: componentwise,
  frexp: takes('float: T -> frexp'),
  insertBits: takes('integer: T T u32 u32 -> T'),
  inverseSqrt: componentwise,
  ldexp: takes('float: T T:i32 -> T'),
  length: takes('float: T -> S'),
  log: componentwise,
  log2: componentwise,
  max: { ...takes('number: T T -> T'), gives: 'greatest' },
  min: { ...takes('number: T T -> T'), gives: 'least' },
  mix: takes('float: T T T -> T', 'float: V V S -> V'),
  modf: takes('float: T -> modf'),
  normalize: takes('float: V -> V'),
  pow: ofTwo,
  quantizeToF16: takes('f32: T -> T'),
  radians: componentwise,
  reflect: ofVectors,
  refract: takes('float: V V S -> V'),
  reverseBits: ofInteger,
  round: componentwise,
  saturate: componentwise,
  sign: takes('signed: T -> T'),
  sin: componentwise,
  sinh: componentwise,
  smoothstep: ofThree,
  sqrt: componentwise,
  step: ofTwo,
  tan: componentwise,
  tanh: componentwise,
  transpose: takes('float: M -> Mt'),
  trunc: componentwise,
  // atomic
  atomicLoad: { ...atomic, pointer: 'load', values: 0 },
  atomicStore: { ...atomic, pointer: 'store', values: 1 },
  atomicAdd: changesAtomic,
  atomicSub: changesAtomic,
  atomicMax: changesAtomic,
  atomicMin: changesAtomic,
  atomicAnd: changesAtomic,
  atomicOr: changesAtomic,
  atomicXor: changesAtomic,
  atomicExchange: changesAtomic,
  atomicCompareExchangeWeak: { ...changesAtomic, values: 2 },
  atomicStoreMin: changesAtomic,
  atomicStoreMax: changesAtomic,
  // packing
  pack4x8snorm: takes(': vec4f -> u32'),
  pack4x8unorm: takes(': vec4f -> u32'),
  pack4xI8: takes(': vec4i -> u32'),
  pack4xU8: takes(': vec4u -> u32'),
  pack4xI8Clamp: takes(': vec4i -> u32'),
  pack4xU8Clamp: takes(': vec4u -> u32'),
  pack2x16snorm: takes(': vec2f -> u32'),
  pack2x16unorm: takes(': vec2f -> u32'),
  pack2x16float: takes(': vec2f -> u32'),
  unpack4x8snorm: takes(': u32 -> vec4f'),
  unpack4x8unorm: takes(': u32 -> vec4f'),
  unpack4xI8: takes(': u32 -> vec4i'),
  unpack4xU8: takes(': u32 -> vec4u'),
  unpack2x16snorm: takes(': u32 -> vec2f'),
  unpack2x16unorm: takes(': u32 -> vec2f'),
  unpack2x16float: takes(': u32 -> vec2f'),
  // synchronization
  storageBarrier: barrier,
  workgroupBarrier: barrier,
  textureBarrier: barrier,
  workgroupUniformLoad: {
    pointer: 'load',
    values: 0,
    together: 'workgroup',
    uniformArguments: 'all',
    barrier: 'around',
    varies: 'never',
  },
  // subgroups
  subgroupAdd: { ...concrete, ...shared },
  subgroupExclusiveAdd: subgroup,
  subgroupInclusiveAdd: subgroup,
  subgroupMul: { ...concrete, ...shared },
  subgroupExclusiveMul: subgroup,
  subgroupInclusiveMul: subgroup,
  subgroupMin: { ...concrete, ...shared },
  subgroupMax: { ...concrete, ...shared },
  subgroupAnd: { ...ofInteger, ...shared },
  subgroupOr: { ...ofInteger, ...shared },
  subgroupXor: { ...ofInteger, ...shared },
  subgroupAll: { ...takes(': bool -> bool'), ...shared },
  subgroupAny: { ...takes(': bool -> bool'), ...shared },
  subgroupElect: { ...takes(': -> bool'), ...together },
  subgroupBallot: { ...takes(': bool -> vec4u'), ...shared },
  subgroupBroadcast: { ...ofLane, ...shared, lane: { limit: 128, isConstant: true } },
  subgroupBroadcastFirst: { ...concrete, ...shared },
  subgroupShuffle: { ...ofLane, ...together, lane },
  subgroupShuffleUp: shifted,
  subgroupShuffleDown: shifted,
  subgroupShuffleXor: shifted,
  quadBroadcast: { ...ofLane, ...together, lane: { limit: 4, isConstant: true } },
  quadSwapX: subgroup,
  quadSwapY: subgroup,
  quadSwapDiagonal: subgroup,
  /*
   * Subgroup matrices. A call of `subgroupMatrixLoad` has as arguments the address of an array of scalars or
   * vectors, offset and stride (i32 or u32, in elements of the array; the bits of an i32 count as u32), and a
   * bool literal, true for `col_major`. The stride goes from row to row, with `col_major` from column to
   * column. If any part of an access is outside the array, a load returns a matrix of zeros and a store has
   * no effect. A stride smaller than a row counts as the length of a row.
   */
  subgroupMatrixLoad: { ...matrix, pointer: 'load' },
  /** The same with the matrix before the stride. */
  subgroupMatrixStore: { ...matrix, pointer: 'store' },
  /** Not available in WGSL source: a constructor that fills a matrix with a scalar. */
  subgroupMatrixFill: matrix,
  subgroupMatrixMultiply: matrix,
  subgroupMatrixMultiplyAccumulate: matrix,
  subgroupMatrixScalarAdd: matrix,
  subgroupMatrixScalarSubtract: matrix,
  subgroupMatrixScalarMultiply: matrix,
} as const satisfies Record<string, BuiltinFacts>

/** The name of a built-in function. */
export type BuiltinFunction = keyof typeof table

type NamesOf<F> = { [N in BuiltinFunction]: (typeof table)[N] extends F ? N : never }[BuiltinFunction]

/** The functions that operate only on values and can be evaluated in constant expressions. */
export type ValueFunction = Exclude<NamesOf<{ overloads: readonly string[] }>, NamesOf<{ together: string }>>

/**
 * The built-in functions that a compute shader can call, except for texture functions, with the properties
 * that analyses, validity checks and emitters need.
 */
export const builtinFacts: Readonly<Record<BuiltinFunction, BuiltinFacts>> = table

/** The names of the built-in functions. */
export const builtinFunctions = Object.keys(table) as readonly BuiltinFunction[]
