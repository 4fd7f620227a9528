import { type Batch, bindings, bitsFloat, type Failure, floatBits, hex } from './batch.ts'

/** An operation of a subgroup: WGSL for a lane's value `v` of type `T`, and what each lane gets from the lanes that are there. */
interface SubgroupOperation {
  readonly text: string
  readonly types: readonly ('u32' | 'i32' | 'f32')[]
  /** The result in `lanes[at]`; undefined when it is open. */
  readonly value: (lanes: readonly Lane[], at: number, size: number) => number | undefined
}

/** A lane that makes the call: its number in the subgroup and its value. */
interface Lane {
  readonly id: number
  readonly value: number
}

const integers = ['u32', 'i32'] as const
const numbers = ['u32', 'i32', 'f32'] as const
const sum = (lanes: readonly Lane[]) => lanes.reduce((total, { value }) => total + value, 0)
const product = (lanes: readonly Lane[]) => lanes.reduce((total, { value }) => Math.imul(total, value), 1)
const of = (lanes: readonly Lane[], id: number) => lanes.find((lane) => lane.id === id)?.value
const bits = (lanes: readonly Lane[], operator: (a: number, b: number) => number) =>
  lanes.map((lane) => lane.value).reduce(operator)
const values = (lanes: readonly Lane[]) => lanes.map((lane) => lane.value)

const operations: readonly SubgroupOperation[] = [
  { text: 'subgroupAdd(v)', types: numbers, value: sum },
  { text: 'subgroupInclusiveAdd(v)', types: numbers, value: (lanes, at) => sum(lanes.slice(0, at + 1)) },
  { text: 'subgroupExclusiveAdd(v)', types: numbers, value: (lanes, at) => sum(lanes.slice(0, at)) },
  { text: 'subgroupMul(v)', types: integers, value: product },
  { text: 'subgroupInclusiveMul(v)', types: integers, value: (lanes, at) => product(lanes.slice(0, at + 1)) },
  { text: 'subgroupExclusiveMul(v)', types: integers, value: (lanes, at) => product(lanes.slice(0, at)) },
  { text: 'subgroupMin(v)', types: numbers, value: (lanes) => Math.min(...values(lanes)) },
  { text: 'subgroupMax(v)', types: numbers, value: (lanes) => Math.max(...values(lanes)) },
  { text: 'subgroupAnd(v)', types: integers, value: (lanes) => bits(lanes, (a, b) => a & b) },
  { text: 'subgroupOr(v)', types: integers, value: (lanes) => bits(lanes, (a, b) => a | b) },
  { text: 'subgroupXor(v)', types: integers, value: (lanes) => bits(lanes, (a, b) => a ^ b) },
  {
    text: 'T(subgroupAll(v > T(3)))',
    types: numbers,
    value: (lanes) => Number(values(lanes).every((v) => v > 3)),
  },
  {
    text: 'T(subgroupAny(v > T(200)))',
    types: numbers,
    value: (lanes) => Number(values(lanes).some((v) => v > 200)),
  },
  { text: 'T(subgroupElect())', types: numbers, value: (_, at) => Number(at === 0) },
  {
    text: 'T(countOneBits(subgroupBallot(v > T(50)).x))',
    types: integers,
    value: (lanes) => lanes.filter(({ id, value }) => id < 32 && value > 50).length,
  },
  { text: 'subgroupBroadcastFirst(v)', types: numbers, value: (lanes) => lanes[0]!.value },
  { text: 'subgroupBroadcast(v, 2)', types: numbers, value: (lanes) => of(lanes, 2) },
  {
    text: 'subgroupShuffle(v, (lane * 3u + 1u) % size)',
    types: numbers,
    value: (lanes, at, size) => of(lanes, (lanes[at]!.id * 3 + 1) % size),
  },
  { text: 'subgroupShuffleXor(v, 1u)', types: numbers, value: (lanes, at) => of(lanes, lanes[at]!.id ^ 1) },
  { text: 'subgroupShuffleUp(v, 1u)', types: numbers, value: (lanes, at) => of(lanes, lanes[at]!.id - 1) },
  {
    text: 'subgroupShuffleDown(v, 2u)',
    types: numbers,
    value: (lanes, at, size) => (lanes[at]!.id + 2 < size ? of(lanes, lanes[at]!.id + 2) : undefined),
  },
  { text: 'quadBroadcast(v, 3)', types: numbers, value: (lanes, at) => of(lanes, (lanes[at]!.id & ~3) + 3) },
  { text: 'quadSwapX(v)', types: numbers, value: (lanes, at) => of(lanes, lanes[at]!.id ^ 1) },
  { text: 'quadSwapY(v)', types: numbers, value: (lanes, at) => of(lanes, lanes[at]!.id ^ 2) },
  { text: 'quadSwapDiagonal(v)', types: numbers, value: (lanes, at) => of(lanes, lanes[at]!.id ^ 3) },
]

/** Conditions under which invocations make the call; all but the first diverge. */
const conditions: readonly { readonly text: string; readonly holds: (index: number) => boolean }[] = [
  { text: 'true', holds: () => true },
  { text: 'i % 3u != 1u', holds: (index) => index % 3 !== 1 },
  { text: 'i < 21u', holds: (index) => index < 21 },
  { text: '(input[i] & 4u) == 0u', holds: (index) => (inputOf(index) & 4) === 0 },
]

/** A lane's input: small and uneven. */
function inputOf(index: number): number {
  return (index * 37 + (index >> 2)) % 101
}

/** Every subgroup and quad operation, with whole and part subgroups, in uniform and divergent control flow. */
export function* subgroupBatches(): Generator<Batch> {
  for (const threads of [32, 64, 128, 48, 7])
    for (const condition of conditions)
      for (const type of numbers) yield subgroupBatch(threads, condition, type)
}

function subgroupBatch(
  threads: number,
  condition: (typeof conditions)[number],
  type: 'u32' | 'i32' | 'f32',
): Batch {
  const usable = operations.filter((o) => o.types.includes(type))
  const stride = usable.length + 3
  const lines = usable.map(
    ({ text }, k) => `    out[at + ${k + 3}] = bitcast<u32>(${text.replace(/\bT\b/g, type)});`,
  )
  return {
    name: `subgroup ${type} ${threads} if ${condition.text}`,
    needs: 'subgroups',
    wgsl: `enable subgroups;
diagnostic(off, subgroup_uniformity);
${bindings}
@compute @workgroup_size(${threads}) fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) id: vec3u,
    @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) size: u32) {
  let at = (id.x * ${threads}u + i) * ${stride}u;
  let v = ${type}(input[i]);
  out[at] = lane;
  out[at + 1] = size;
  out[at + 2] = subgroupBroadcastFirst(i);
  if (${condition.text}) {
${lines.join('\n')}
  }
}`,
    workgroups: 2,
    input: Uint32Array.from({ length: threads }, (_, i) => inputOf(i)),
    output: new Uint32Array(2 * threads * stride),
    cases: 2 * threads * usable.length,
    check: (out) => {
      const failures: Failure[] = []
      for (const workgroup of [0, 1]) {
        const at = (index: number) => (workgroup * threads + index) * stride
        const subgroups = Map.groupBy(Array(threads).keys(), (index) => out[at(index) + 2]!)
        for (const members of subgroups.values()) {
          const present = members.filter(condition.holds)
          const lanes = present
            .map((index) => ({ id: out[at(index)]!, value: inputOf(index), index }))
            .sort((a, b) => a.id - b.id)
          for (const [k, { text, value }] of usable.entries()) {
            for (const [position, { index, id }] of lanes.entries()) {
              const want = value(lanes, position, out[at(index) + 1]!)
              if (want === undefined) continue
              const got = out[at(index) + 3 + k]!
              const expected = type === 'f32' ? floatBits(want) : want >>> 0
              if (got === expected) continue
              const reproducer = `if (${condition.text}) { ${text.replace(/\bT\b/g, type)} } in a workgroup of ${threads}, lane ${id} of ${out[at(index) + 1]}`
              const show = (word: number) => (type === 'f32' ? String(bitsFloat(word)) : hex(word))
              failures.push({ reproducer, expected: show(expected), got: show(got) })
            }
          }
        }
      }
      return failures
    },
  }
}
