import { subgroupSize } from '../../collectives.ts'
import { allLanes } from '../invocation-index.ts'
import { type Fragment, forEachSize } from './fragment.ts'

const reductions: readonly (readonly [string, string])[] = [
  ['subgroupAdd', 'add(a, b)'],
  ['subgroupMul', 'mul(a, b)'],
  ['subgroupMin', 'min(a, b)'],
  ['subgroupMax', 'max(a, b)'],
  ['subgroupAnd', 'bit_and(a, b)'],
  ['subgroupOr', 'bit_or(a, b)'],
  ['subgroupXor', 'bit_xor(a, b)'],
]

const shuffles = ['shuffle', 'shuffle_up', 'shuffle_down', 'shuffle_xor']

/** The vector form of a function of the mask, a value and an optional parameter. */
const byComponent = (name: string, parameter = ''): Fragment => ({
  provides: [name],
  when: ['vec'],
  source: forEachSize(
    (n, parts) =>
      `template <class T> WGSL_FN vec<T, ${n}> ${name}(unsigned mask, vec<T, ${n}> v${parameter && `, unsigned ${parameter}`}) { return make_vec(${parts((c) => `${name}(mask, v.${c}${parameter && `, ${parameter}`})`)}); }`,
  ),
})

/**
 * `mask` contains the lanes that execute the operation; if all lanes of a subgroup do, they take the fast
 * paths.
 */
export const subgroupFragments: readonly Fragment[] = [
  {
    provides: ['lane_index'],
    ptx: true,
    source: `// ptxas knows that it is below 32. If nvcc did not, it would leave branches to ptxas that are never taken.
WGSL_FN unsigned lane_index() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); __builtin_assume(r < ${subgroupSize}u); return r; }`,
  },
  {
    provides: ['active_lanes'],
    ptx: true,
    source: `// The lanes that are here now; the argument tells one place in the source from another.
WGSL_FN unsigned active_lanes(int) { return __activemask(); }`,
  },
  {
    provides: shuffles,
    source: ['int', 'unsigned', 'float']
      .map((t) =>
        [
          `WGSL_FN ${t} shuffle(unsigned mask, ${t} v, unsigned lane) { return __shfl_sync(mask, v, (int)(lane & ${subgroupSize - 1}u)); }`,
          `WGSL_FN ${t} shuffle_up(unsigned mask, ${t} v, unsigned by) { return __shfl_up_sync(mask, v, by & ${subgroupSize - 1}u); }`,
          `WGSL_FN ${t} shuffle_down(unsigned mask, ${t} v, unsigned by) { return __shfl_down_sync(mask, v, by & ${subgroupSize - 1}u); }`,
          `WGSL_FN ${t} shuffle_xor(unsigned mask, ${t} v, unsigned by) { return __shfl_xor_sync(mask, v, (int)(by & ${subgroupSize - 1}u)); }`,
        ].join('\n'),
      )
      .join('\n'),
  },
  {
    provides: shuffles,
    when: ['f16'],
    source: shuffles
      .map(
        (name) =>
          `WGSL_FN f16 ${name}(unsigned mask, f16 v, unsigned lane) { return f16_bits((unsigned short)${name}(mask, (unsigned)v.bits, lane)); }`,
      )
      .join('\n'),
  },
  ...shuffles.map((name) => byComponent(name, 'lane')),
  {
    provides: [
      'subgroupBroadcast',
      'subgroupShuffle',
      'subgroupShuffleUp',
      'subgroupShuffleDown',
      'subgroupShuffleXor',
    ],
    source: `template <class T> WGSL_FN T subgroupBroadcast(unsigned mask, T v, unsigned lane) { return shuffle(mask, v, lane); }
template <class T> WGSL_FN T subgroupShuffle(unsigned mask, T v, unsigned lane) { return shuffle(mask, v, lane); }
template <class T> WGSL_FN T subgroupShuffleUp(unsigned mask, T v, unsigned by) { return shuffle_up(mask, v, by); }
template <class T> WGSL_FN T subgroupShuffleDown(unsigned mask, T v, unsigned by) { return shuffle_down(mask, v, by); }
template <class T> WGSL_FN T subgroupShuffleXor(unsigned mask, T v, unsigned by) { return shuffle_xor(mask, v, by); }`,
  },
  {
    provides: ['first_lane', 'subgroupBroadcastFirst'],
    source: `WGSL_FN unsigned first_lane(unsigned mask) { return (mask & 1u) != 0u ? 0u : (unsigned)__ffs((int)mask) - 1u; }
template <class T> WGSL_FN T subgroupBroadcastFirst(unsigned mask, T v) { return shuffle(mask, v, first_lane(mask)); }`,
  },
  {
    provides: ['quadBroadcast', 'quadSwapX', 'quadSwapY', 'quadSwapDiagonal'],
    source: `template <class T> WGSL_FN T quadBroadcast(unsigned mask, T v, unsigned lane) { return shuffle(mask, v, (lane_index() & ${subgroupSize - 4}u) | (lane & 3u)); }
template <class T> WGSL_FN T quadSwapX(unsigned mask, T v) { return shuffle_xor(mask, v, 1u); }
template <class T> WGSL_FN T quadSwapY(unsigned mask, T v) { return shuffle_xor(mask, v, 2u); }
template <class T> WGSL_FN T quadSwapDiagonal(unsigned mask, T v) { return shuffle_xor(mask, v, 3u); }`,
  },
  {
    provides: ['subgroupElect', 'subgroupAll', 'subgroupAny', 'subgroupBallot'],
    // ptxas 13.0 moves votes with a predicate as their result into branches.
    source: `WGSL_FN bool subgroupElect(unsigned mask) { return lane_index() == first_lane(mask); }
WGSL_FN bool subgroupAll(unsigned mask, bool p) { return __ballot_sync(mask, p) == mask; }
WGSL_FN bool subgroupAny(unsigned mask, bool p) { return __ballot_sync(mask, p) != 0u; }
WGSL_FN vec4u subgroupBallot(unsigned mask, bool p) { return vec4u(__ballot_sync(mask, p), 0u, 0u, 0u); }`,
  },
  {
    provides: ['reduce_lanes'],
    source: `template <class T, class Op> WGSL_FN T reduce_lanes(unsigned mask, T v, Op op) {
  if (mask == ${allLanes}) {
    for (unsigned by = ${subgroupSize / 2}u; by != 0u; by >>= 1) v = op(v, shuffle_xor(mask, v, by));
    return v;
  }
  unsigned rest = mask & (mask - 1u);
  T sum = shuffle(mask, v, first_lane(mask));
  _Pragma("unroll 1") for (; rest != 0u; rest &= rest - 1u) sum = op(sum, shuffle(mask, v, (unsigned)__ffs((int)rest) - 1u));
  return sum;
}`,
  },
  {
    provides: ['scan_lanes'],
    source: `template <bool inclusive, class T, class Op> WGSL_FN T scan_lanes(unsigned mask, T v, T identity, Op op) {
  const unsigned lane = lane_index();
  if (mask == ${allLanes}) {
    for (unsigned by = 1u; by != ${subgroupSize}u; by <<= 1) {
      const T other = shuffle_up(mask, v, by);
      if (lane >= by) v = op(other, v);
    }
    if (inclusive) return v;
    const T before = shuffle_up(mask, v, 1u);
    return lane == 0u ? identity : before;
  }
  T sum = identity;
  _Pragma("unroll 1") for (unsigned rest = mask; rest != 0u; rest &= rest - 1u) {
    const unsigned from = (unsigned)__ffs((int)rest) - 1u;
    const T other = shuffle(mask, v, from);
    if (from < lane || (inclusive && from == lane)) sum = op(sum, other);
  }
  return sum;
}`,
  },
  ...reductions.flatMap(([name, body]): Fragment[] => [
    {
      provides: [name],
      source: `struct ${name}_op { template <class T> __device__ __forceinline__ T operator()(T a, T b) const { return ${body}; } };
template <class T> WGSL_FN T ${name}(unsigned mask, T v) { return reduce_lanes(mask, v, ${name}_op()); }`,
    },
    byComponent(name),
  ]),
  ...(
    [
      ['Add', '0'],
      ['Mul', '1'],
    ] as const
  ).flatMap(([name, identity]): Fragment[] => [
    {
      provides: [`subgroupInclusive${name}`, `subgroupExclusive${name}`],
      needs: [`subgroup${name}`],
      source: `template <class T> WGSL_FN T subgroupInclusive${name}(unsigned mask, T v) { return scan_lanes<true>(mask, v, T(${identity}), subgroup${name}_op()); }
template <class T> WGSL_FN T subgroupExclusive${name}(unsigned mask, T v) { return scan_lanes<false>(mask, v, T(${identity}), subgroup${name}_op()); }`,
    },
    byComponent(`subgroupInclusive${name}`),
    byComponent(`subgroupExclusive${name}`),
  ]),
]
