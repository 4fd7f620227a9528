import type { BuiltinFunction } from '../builtin-functions.ts'
import type { Random } from './random.ts'
import { bool, i32, type RandomType, u32, vectorOf } from './random-types.ts'

/** The parts of calls; the same seed produces the same calls. */
export interface CallWriter extends Random {
  /** An expression of a scalar or vector of integers or bools. */
  expression(type: RandomType, depth: number): string
  /** A scalar that is not a constant. */
  scalar(kind: 'u32' | 'i32'): string
  /** A scalar or vector of small whole numbers. */
  smallFloat(type: RandomType): string
}

/**
 * How random kernels call a built-in function:
 * - `value`: in expressions; `write` returns the call as a u32 that is the same everywhere;
 * - `subgroup`: in places that all invocations of a subgroup reach. `isPortable` if the u32 that `write`
 *   returns does not depend on the size of subgroups;
 * - `atomic`, `barrier`, `length`: by the forms that `random-memory.ts` has for pointers;
 * - `matrix`: in the products of `random-rare.ts`;
 * - `elsewhere`: not at all, for the given reason.
 */
export type CallForm =
  | { readonly in: 'value'; write(w: CallWriter): string }
  | {
      readonly in: 'subgroup'
      readonly isPortable?: true
      /** It reads a value from a lane that a partial subgroup may lack. */
      readonly ofLane?: true
      write(w: CallWriter, isPortable: boolean): string
    }
  | { readonly in: 'atomic' | 'barrier' | 'length' | 'matrix' }
  | { readonly in: 'elsewhere'; readonly reason: string }

const sizes = [1, 2, 3, 4] as const
const vectorSizes = [2, 3, 4] as const
const atomic = { in: 'atomic' } as const
const barrier = { in: 'barrier' } as const
const matrices = { in: 'matrix' } as const
const wide = {
  in: 'elsewhere',
  reason: 'atomic-vec2u.test.ts has the forms: SwiftShader lacks them',
} as const

/** One u32 of a value of whole numbers. */
function folded(text: string, type: RandomType): string {
  const { kind, size = 1 } = type
  const whole = (t: string) => (kind === 'f32' ? `u32(i32(${t}))` : kind === 'u32' ? t : `u32(${t})`)
  if (size === 1) return whole(text)
  if (kind === 'bool')
    return `dot(vec${size}u(${text}), vec${size}u(1u, ${[5, 7, 9]
      .slice(0, size - 1)
      .map((n) => `${n}u`)
      .join(', ')}))`
  const factors = [1, 5, 7, 9]
    .slice(0, size)
    .map((n) => (kind === 'f32' ? `${n}.0` : `${kind === 'i32' ? `${n}i` : `${n}u`}`))
  return whole(`dot(${text}, vec${size}<${kind}>(${factors.join(', ')}))`)
}

/** `name` of integers of one shape. */
function integers(name: string, count: number, kinds: readonly ('u32' | 'i32')[] = ['u32', 'i32']): CallForm {
  return {
    in: 'value',
    write(w) {
      const type = vectorOf(w.pick(kinds), w.pick(sizes))
      const args = Array.from({ length: count }, () => w.expression(type, 1))
      return folded(`${name}(${args.join(', ')})`, type)
    },
  }
}

/**
 * `name` of numbers of one shape, with a result of the same shape that is exact for small whole numbers and
 * halves.
 */
function numbers(name: string, count: number): CallForm {
  const floats = exact(name, count)
  const whole = integers(name, count, name === 'sign' ? ['i32'] : undefined)
  return {
    in: 'value',
    write: (w) => (w.oneIn(3) ? floats : (whole as typeof floats)).write(w),
  }
}

/** `name` of floats, exact for small whole numbers. */
function exact(name: string, count: number) {
  return {
    in: 'value',
    write(w: CallWriter) {
      const type = vectorOf('f32', w.pick(sizes))
      const args = Array.from({ length: count }, () => w.smallFloat(type))
      return folded(`${name}(${args.join(', ')})`, type)
    },
  } as const
}

/**
 * A float whose last bits differ between implementations; only whether it is finite is observed. `domain`
 * maps 0 to 7 into the domain.
 */
function inexact(
  name: string,
  count = 1,
  domain = (x: string) => x,
  result: 'shape' | 'scalar' = 'shape',
): CallForm {
  return {
    in: 'value',
    write(w) {
      const isVector = result === 'scalar' || w.oneIn(2)
      const type = vectorOf('f32', isVector ? w.pick(vectorSizes) : 1)
      const args = Array.from({ length: count }, () => domain(w.smallFloat(type)))
      return finite(`${name}(${args.join(', ')})`, result === 'shape' ? type.size! : 1)
    },
  }
}

function finite(text: string, size: number): string {
  if (size === 1) return `u32(abs(${text}) > 1e30)`
  return `u32(any(abs(${text}) > vec${size}f(1e30)))`
}

const eighth = (x: string) => `(${x} * 0.125)`
const positive = (x: string) => `(${x} + 1.0)`

/**
 * A call with arguments of fixed types, each given by a letter: u and i are u32 and i32, U and I are vectors
 * of four of them, b is a bool.
 */
function fixed(name: string, parameters: string, as: (call: string) => string = (call) => call): CallForm {
  const types: Record<string, RandomType> = {
    u: u32,
    i: i32,
    b: bool,
    U: vectorOf('u32', 4),
    I: vectorOf('i32', 4),
  }
  return {
    in: 'value',
    write: (w) => as(`${name}(${[...parameters].map((p) => w.expression(types[p]!, 1)).join(', ')})`),
  }
}

/** `pack…` of floats, and `unpack…` of its result. */
function packed(name: string, size: 2 | 4): CallForm {
  return {
    in: 'value',
    write(w) {
      const parts = Array.from({ length: size }, () => `f32(${w.expression(bool, 1)})`)
      return `${name}(vec${size}f(${parts.join(', ')}))`
    },
  }
}

/** A subgroup operation on a u32. Those of sums depend on the size of subgroups. */
function ofSubgroup(name: string): CallForm {
  return { in: 'subgroup', write: (w) => `${name}(${w.expression(u32, 1)})` }
}

/** The value of a lane that must exist. */
function ofLane(name: string, rest: (w: CallWriter) => string = lane): CallForm {
  return { in: 'subgroup', ofLane: true, write: (w) => `${name}(${w.expression(u32, 1)}${rest(w)})` }
}

/**
 * An operation on values that are the same in the whole workgroup has the same result in subgroups of any
 * size.
 */
function ofUniform(name: string): CallForm {
  return {
    in: 'subgroup',
    isPortable: true,
    write: (w, isPortable) =>
      `${name}(${isPortable ? w.pick(['limits.x', 'limits.z + 1u']) : w.expression(u32, 1)})`,
  }
}

function ofQuad(name: string, rest: (w: CallWriter) => string = () => ''): CallForm {
  return { in: 'subgroup', isPortable: true, write: (w) => `${name}(${w.expression(u32, 1)}${rest(w)})` }
}

const lane = (w: CallWriter) => `, ${w.below(32)}u`

/** Every built-in function has a row. */
export const callForms: Readonly<Record<BuiltinFunction, CallForm>> = {
  all: { in: 'value', write: (w) => `u32(all(${w.expression(vectorOf('bool', w.pick(sizes)), 1)}))` },
  any: { in: 'value', write: (w) => `u32(any(${w.expression(vectorOf('bool', w.pick(sizes)), 1)}))` },
  select: {
    in: 'value',
    write(w) {
      const type = vectorOf(w.pick(['u32', 'i32', 'bool'] as const), w.pick(sizes))
      const condition = vectorOf('bool', w.oneIn(2) ? 1 : type.size!)
      const [a, b, c] = [type, type, condition].map((t) => w.expression(t, 1))
      return folded(`select(${a}, ${b}, ${c})`, type)
    },
  },
  arrayLength: { in: 'length' },
  bufferLength: { in: 'length' },
  abs: numbers('abs', 1),
  acos: inexact('acos', 1, eighth),
  acosh: inexact('acosh', 1, positive),
  asin: inexact('asin', 1, eighth),
  asinh: inexact('asinh'),
  atan: inexact('atan'),
  atanh: inexact('atanh', 1, eighth),
  atan2: inexact('atan2', 2, positive),
  ceil: exact('ceil', 1),
  clamp: {
    in: 'value',
    write(w) {
      const type = vectorOf(w.pick(['u32', 'i32'] as const), w.pick(sizes))
      const [low, high] = [w.below(9), 9 + w.below(99)].map((n) => `${type.name}(${n})`)
      return folded(`clamp(${w.expression(type, 1)}, ${low}, ${high})`, type)
    },
  },
  cos: inexact('cos'),
  cosh: inexact('cosh'),
  countLeadingZeros: integers('countLeadingZeros', 1),
  countOneBits: integers('countOneBits', 1),
  countTrailingZeros: integers('countTrailingZeros', 1),
  cross: {
    in: 'value',
    write(w) {
      const type = vectorOf('f32', 3)
      return folded(`cross(${w.smallFloat(type)}, ${w.smallFloat(type)})`, type)
    },
  },
  degrees: inexact('degrees'),
  determinant: {
    in: 'value',
    write: (w) =>
      finite(
        `determinant(mat2x2f(${w.smallFloat(vectorOf('f32', 4))}.xyzw.xy, ${w.smallFloat(vectorOf('f32', 2))}))`,
        1,
      ),
  },
  distance: inexact('distance', 2, positive, 'scalar'),
  dot: {
    in: 'value',
    write(w) {
      const type = vectorOf(w.pick(['u32', 'i32', 'f32'] as const), w.pick(vectorSizes))
      const vector = () => (type.kind === 'f32' ? w.smallFloat(type) : w.expression(type, 1))
      return folded(`dot(${vector()}, ${vector()})`, vectorOf(type.kind!, 1))
    },
  },
  dot4U8Packed: fixed('dot4U8Packed', 'uu'),
  dot4I8Packed: fixed('dot4I8Packed', 'uu', (call) => `u32(${call})`),
  exp: inexact('exp'),
  exp2: inexact('exp2'),
  extractBits: {
    in: 'value',
    write(w) {
      const type = vectorOf(w.pick(['u32', 'i32'] as const), w.pick(sizes))
      const [offset, count] = w.oneIn(2)
        ? [w.scalar('u32'), w.scalar('u32')]
        : [`${w.below(20)}u`, `${w.below(12)}u`]
      return folded(`extractBits(${w.expression(type, 1)}, ${offset}, ${count})`, type)
    },
  },
  faceForward: {
    in: 'value',
    write(w) {
      const type = vectorOf('f32', w.pick(vectorSizes))
      const [a, b, c] = [1, 2, 3].map(() => `(${w.smallFloat(type)} + ${type.name}(1.0))`)
      return folded(`faceForward(${a}, ${b}, ${c})`, type)
    },
  },
  firstLeadingBit: integers('firstLeadingBit', 1),
  firstTrailingBit: integers('firstTrailingBit', 1),
  floor: exact('floor', 1),
  fma: exact('fma', 3),
  fract: { in: 'value', write: (w) => `u32(fract(${w.smallFloat(vectorOf('f32', 1))} * 0.5) * 2.0)` },
  frexp: { in: 'value', write: (w) => `u32(frexp(${w.smallFloat(vectorOf('f32', 1))} + 1.0).exp)` },
  insertBits: {
    in: 'value',
    write(w) {
      const type = vectorOf(w.pick(['u32', 'i32'] as const), w.pick(sizes))
      const bits = w.oneIn(2) ? `${w.scalar('u32')}, ${w.scalar('u32')}` : `${w.below(20)}u, ${w.below(12)}u`
      return folded(`insertBits(${w.expression(type, 1)}, ${w.expression(type, 1)}, ${bits})`, type)
    },
  },
  inverseSqrt: inexact('inverseSqrt', 1, positive),
  ldexp: {
    in: 'value',
    write: (w) => `u32(ldexp(${w.smallFloat(vectorOf('f32', 1))}, ${w.expression(i32, 1)} & 3i))`,
  },
  length: inexact('length', 1, positive, 'scalar'),
  log: inexact('log', 1, positive),
  log2: inexact('log2', 1, positive),
  max: numbers('max', 2),
  min: numbers('min', 2),
  mix: inexact('mix', 3),
  modf: { in: 'value', write: (w) => `u32(modf(${w.smallFloat(vectorOf('f32', 1))} * 0.5).whole)` },
  normalize: {
    in: 'value',
    write(w) {
      const size = w.pick(vectorSizes)
      return finite(`normalize(${w.smallFloat(vectorOf('f32', size))} + vec${size}f(1.0))`, size)
    },
  },
  pow: inexact('pow', 2, positive),
  quantizeToF16: exact('quantizeToF16', 1),
  radians: inexact('radians'),
  reflect: vectors('reflect', ''),
  refract: vectors('refract', ', 0.5'),
  reverseBits: integers('reverseBits', 1),
  round: exact('round', 1),
  saturate: exact('saturate', 1),
  sign: numbers('sign', 1),
  sin: inexact('sin'),
  sinh: inexact('sinh'),
  smoothstep: {
    in: 'value',
    write: (w) => finite(`smoothstep(0.0, 9.0, ${w.smallFloat(vectorOf('f32', 1))})`, 1),
  },
  sqrt: inexact('sqrt'),
  step: exact('step', 2),
  tan: inexact('tan', 1, eighth),
  tanh: inexact('tanh'),
  transpose: {
    in: 'value',
    write(w) {
      const columns = [1, 2].map(() => w.smallFloat(vectorOf('f32', 3)))
      return folded(`transpose(mat2x3f(${columns.join(', ')}))[${w.below(3)}]`, vectorOf('f32', 2))
    },
  },
  trunc: exact('trunc', 1),
  atomicLoad: atomic,
  atomicStore: atomic,
  atomicAdd: atomic,
  atomicSub: atomic,
  atomicMax: atomic,
  atomicMin: atomic,
  atomicAnd: atomic,
  atomicOr: atomic,
  atomicXor: atomic,
  atomicExchange: atomic,
  atomicCompareExchangeWeak: atomic,
  atomicStoreMin: wide,
  atomicStoreMax: wide,
  pack4x8snorm: packed('pack4x8snorm', 4),
  pack4x8unorm: packed('pack4x8unorm', 4),
  pack4xI8: fixed('pack4xI8', 'I'),
  pack4xU8: fixed('pack4xU8', 'U'),
  pack4xI8Clamp: fixed('pack4xI8Clamp', 'I'),
  pack4xU8Clamp: fixed('pack4xU8Clamp', 'U'),
  pack2x16snorm: packed('pack2x16snorm', 2),
  pack2x16unorm: packed('pack2x16unorm', 2),
  pack2x16float: packed('pack2x16float', 2),
  unpack4x8snorm: fixed('unpack4x8snorm', 'u', (call) => finite(call, 4)),
  unpack4x8unorm: fixed('unpack4x8unorm', 'u', (call) => finite(call, 4)),
  unpack4xI8: fixed('unpack4xI8', 'u', (call) => folded(call, vectorOf('i32', 4))),
  unpack4xU8: fixed('unpack4xU8', 'u', (call) => folded(call, vectorOf('u32', 4))),
  unpack2x16snorm: fixed('unpack2x16snorm', 'u', (call) => finite(call, 2)),
  unpack2x16unorm: fixed('unpack2x16unorm', 'u', (call) => finite(call, 2)),
  unpack2x16float: {
    in: 'value',
    write: (w) =>
      folded(`unpack2x16float(pack2x16float(${w.smallFloat(vectorOf('f32', 2))}))`, vectorOf('f32', 2)),
  },
  storageBarrier: barrier,
  workgroupBarrier: barrier,
  textureBarrier: barrier,
  workgroupUniformLoad: barrier,
  subgroupAdd: ofSubgroup('subgroupAdd'),
  subgroupExclusiveAdd: ofSubgroup('subgroupExclusiveAdd'),
  subgroupInclusiveAdd: ofSubgroup('subgroupInclusiveAdd'),
  subgroupMul: ofSubgroup('subgroupMul'),
  subgroupExclusiveMul: ofSubgroup('subgroupExclusiveMul'),
  subgroupInclusiveMul: ofSubgroup('subgroupInclusiveMul'),
  subgroupMin: ofUniform('subgroupMin'),
  subgroupMax: ofUniform('subgroupMax'),
  subgroupAnd: ofUniform('subgroupAnd'),
  subgroupOr: ofUniform('subgroupOr'),
  subgroupXor: ofSubgroup('subgroupXor'),
  subgroupAll: { in: 'subgroup', write: (w) => `u32(subgroupAll(${w.expression(bool, 1)}))` },
  subgroupAny: { in: 'subgroup', write: (w) => `u32(subgroupAny(${w.expression(bool, 1)}))` },
  subgroupElect: { in: 'subgroup', write: (w) => `select(1u, ${w.expression(u32, 1)}, subgroupElect())` },
  subgroupBallot: { in: 'subgroup', write: (w) => `subgroupBallot(${w.expression(bool, 1)}).x` },
  subgroupBroadcast: ofLane('subgroupBroadcast'),
  subgroupBroadcastFirst: ofUniform('subgroupBroadcastFirst'),
  subgroupShuffle: ofLane('subgroupShuffle', (w) => w.pick([`, ${w.below(32)}u`, ', (li * 5u + 3u) % 32u'])),
  subgroupShuffleUp: ofLane('subgroupShuffleUp'),
  subgroupShuffleDown: ofLane('subgroupShuffleDown'),
  subgroupShuffleXor: ofQuad('subgroupShuffleXor', (w) => `, ${1 + w.below(3)}u`),
  quadBroadcast: ofQuad('quadBroadcast', (w) => `, ${w.below(4)}u`),
  quadSwapX: ofQuad('quadSwapX'),
  quadSwapY: ofQuad('quadSwapY'),
  quadSwapDiagonal: ofQuad('quadSwapDiagonal'),
  subgroupMatrixLoad: matrices,
  subgroupMatrixStore: matrices,
  subgroupMatrixFill: matrices,
  subgroupMatrixMultiply: matrices,
  subgroupMatrixMultiplyAccumulate: matrices,
  subgroupMatrixScalarAdd: matrices,
  subgroupMatrixScalarSubtract: matrices,
  subgroupMatrixScalarMultiply: matrices,
}

function vectors(name: string, rest: string): CallForm {
  return {
    in: 'value',
    write(w) {
      const size = w.pick(vectorSizes)
      const [a, b] = [1, 2].map(() => w.smallFloat(vectorOf('f32', size)))
      return finite(`${name}(${a}, ${b}${rest})`, size)
    },
  }
}

/** The rows of one kind. */
export function formsIn<S extends CallForm['in']>(
  sort: S,
): [BuiltinFunction, Extract<CallForm, { in: S }>][] {
  return Object.entries(callForms).filter(([, form]) => form.in === sort) as never
}
