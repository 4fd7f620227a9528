/** What a built-in function does, as far as it is not its result's value. */
export interface BuiltinFacts {
  /** What it does with the memory that its first argument points to. `measure` asks for its length, and touches nothing. */
  readonly pointer?: 'load' | 'store' | 'load-store' | 'measure'
  /** Its access is atomic. */
  readonly isAtomic?: true
  /** Who must make the call together. */
  readonly together?: 'workgroup' | 'subgroup'
  /** The arguments, counted from 0, that must be uniform among them; without `together`, none. */
  readonly uniformArguments?: 'all' | readonly number[]
  /** Whether one barrier of the workgroup is all it does, or one stands before its access and one behind it. */
  readonly barrier?: 'alone' | 'around'
  /**
   * Where its result may vary though its arguments and the control flow are uniform: nowhere, if this is not set; `never` says that it is uniform
   * whatever the arguments are.
   */
  readonly varies?: 'never' | 'in the workgroup' | 'everywhere'
  /** The integers that it gives, by those of its arguments; any of its type, if this is not set. */
  readonly gives?: 'least' | 'greatest' | 'clamped' | 'either'
  /** Its second argument is a lane, a distance or a mask below `limit`. */
  readonly lane?: { readonly limit: number; readonly isConstant: boolean }
  /** It works on subgroup matrices. */
  readonly isMatrix?: true
}

const pure: BuiltinFacts = {}
const atomic = { isAtomic: true, varies: 'everywhere' } as const
const changesAtomic: BuiltinFacts = { ...atomic, pointer: 'load-store' }
const barrier: BuiltinFacts = { together: 'workgroup', barrier: 'alone', varies: 'never' }
const subgroup = { together: 'subgroup', varies: 'everywhere' } as const
/** The same for all invocations of a subgroup, where their arguments are. */
const shared = { together: 'subgroup', varies: 'in the workgroup' } as const
const lane = { limit: 128, isConstant: false }
const shifted: BuiltinFacts = { ...subgroup, lane, uniformArguments: [1] }
const matrix = { together: 'subgroup', isMatrix: true, uniformArguments: 'all' } as const

const table = {
  // logical and array
  all: pure,
  any: pure,
  select: { gives: 'either' },
  arrayLength: { pointer: 'measure' },
  bufferLength: { pointer: 'measure' },
  // numeric
  abs: pure,
  acos: pure,
  acosh: pure,
  asin: pure,
  asinh: pure,
  atan: pure,
  atanh: pure,
  atan2: pure,
  ceil: pure,
  clamp: { gives: 'clamped' },
  cos: pure,
  cosh: pure,
  countLeadingZeros: pure,
  countOneBits: pure,
  countTrailingZeros: pure,
  cross: pure,
  degrees: pure,
  determinant: pure,
  distance: pure,
  dot: pure,
  dot4U8Packed: pure,
  dot4I8Packed: pure,
  exp: pure,
  exp2: pure,
  extractBits: pure,
  faceForward: pure,
  firstLeadingBit: pure,
  firstTrailingBit: pure,
  floor: pure,
  fma: pure,
  fract: pure,
  frexp: pure,
  insertBits: pure,
  inverseSqrt: pure,
  ldexp: pure,
  length: pure,
  log: pure,
  log2: pure,
  max: { gives: 'greatest' },
  min: { gives: 'least' },
  mix: pure,
  modf: pure,
  normalize: pure,
  pow: pure,
  quantizeToF16: pure,
  radians: pure,
  reflect: pure,
  refract: pure,
  reverseBits: pure,
  round: pure,
  saturate: pure,
  sign: pure,
  sin: pure,
  sinh: pure,
  smoothstep: pure,
  sqrt: pure,
  step: pure,
  tan: pure,
  tanh: pure,
  transpose: pure,
  trunc: pure,
  // atomic
  atomicLoad: { ...atomic, pointer: 'load' },
  atomicStore: { ...atomic, pointer: 'store' },
  atomicAdd: changesAtomic,
  atomicSub: changesAtomic,
  atomicMax: changesAtomic,
  atomicMin: changesAtomic,
  atomicAnd: changesAtomic,
  atomicOr: changesAtomic,
  atomicXor: changesAtomic,
  atomicExchange: changesAtomic,
  atomicCompareExchangeWeak: changesAtomic,
  atomicStoreMin: changesAtomic,
  atomicStoreMax: changesAtomic,
  // packing
  pack4x8snorm: pure,
  pack4x8unorm: pure,
  pack4xI8: pure,
  pack4xU8: pure,
  pack4xI8Clamp: pure,
  pack4xU8Clamp: pure,
  pack2x16snorm: pure,
  pack2x16unorm: pure,
  pack2x16float: pure,
  unpack4x8snorm: pure,
  unpack4x8unorm: pure,
  unpack4xI8: pure,
  unpack4xU8: pure,
  unpack2x16snorm: pure,
  unpack2x16unorm: pure,
  unpack2x16float: pure,
  // synchronisation
  storageBarrier: barrier,
  workgroupBarrier: barrier,
  textureBarrier: barrier,
  workgroupUniformLoad: {
    ...{
      pointer: 'load',
      together: 'workgroup',
      uniformArguments: 'all',
      barrier: 'around',
      varies: 'never',
    },
  },
  // subgroups
  subgroupAdd: shared,
  subgroupExclusiveAdd: subgroup,
  subgroupInclusiveAdd: subgroup,
  subgroupMul: shared,
  subgroupExclusiveMul: subgroup,
  subgroupInclusiveMul: subgroup,
  subgroupMin: shared,
  subgroupMax: shared,
  subgroupAnd: shared,
  subgroupOr: shared,
  subgroupXor: shared,
  subgroupAll: shared,
  subgroupAny: shared,
  subgroupElect: subgroup,
  subgroupBallot: shared,
  subgroupBroadcast: { ...shared, lane: { limit: 128, isConstant: true } },
  subgroupBroadcastFirst: shared,
  subgroupShuffle: { ...subgroup, lane },
  subgroupShuffleUp: shifted,
  subgroupShuffleDown: shifted,
  subgroupShuffleXor: shifted,
  quadBroadcast: { ...subgroup, lane: { limit: 4, isConstant: true } },
  quadSwapX: subgroup,
  quadSwapY: subgroup,
  quadSwapDiagonal: subgroup,
  /*
   * Subgroup matrices. A call of `subgroupMatrixLoad` has as arguments the address of an array of scalars or vectors, offset and stride (i32 or
   * u32, in elements of the array; the bits of an i32 count as u32), and a bool literal, true for `col_major`. The stride goes from row to row, with
   * `col_major` from column to column. An access of which any part is outside the array gives a matrix of zeros, or stores nothing; a stride smaller
   * than a row counts as a row.
   */
  subgroupMatrixLoad: { ...matrix, pointer: 'load' },
  /** The same with the matrix before the stride. */
  subgroupMatrixStore: { ...matrix, pointer: 'store' },
  /** No source can name it: the scalar that a constructor fills a matrix with. */
  subgroupMatrixFill: matrix,
  subgroupMatrixMultiply: matrix,
  subgroupMatrixMultiplyAccumulate: matrix,
  subgroupMatrixScalarAdd: matrix,
  subgroupMatrixScalarSubtract: matrix,
  subgroupMatrixScalarMultiply: matrix,
} as const satisfies Record<string, BuiltinFacts>

/** The name of a built-in function. */
export type BuiltinFunction = keyof typeof table

/** The built-in functions a compute shader can call, textures excepted, with what analyses, validity and emitters must know of each. */
export const builtinFacts: Readonly<Record<BuiltinFunction, BuiltinFacts>> = table

/** Their names. */
export const builtinFunctions = Object.keys(table) as readonly BuiltinFunction[]
