import { kernel, type TestKernel } from './elementwise.ts'

/** Atomic functions on storage and workgroup memory. */
export function* atomicKernels(): Generator<TestKernel> {
  const atomicOperations: readonly (readonly [string, string])[] = [
    ...([
      ['atomicAdd', 'value'],
      ['atomicSub', 'value'],
      ['atomicMax', 'value'],
      ['atomicMin', 'value'],
    ] as const),
    ...([
      ['atomicAnd', 'value'],
      ['atomicOr', 'value'],
      ['atomicXor', 'value'],
    ] as const),
  ]
  for (const scalar of ['i32', 'u32'] as const) {
    for (const [f] of atomicOperations) {
      const head = `// run: workgroups=4,1,1
// buffer values: ${scalar}[256] random
// buffer out: ${scalar}[8] random

@group(0) @binding(0) var<storage, read> values: array<${scalar}>;
`
      yield kernel(
        `${f}-storage-${scalar}`,
        `${head}@group(0) @binding(1) var<storage, read_write> out: array<atomic<${scalar}>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  ${f}(&out[id.x % 8u], values[id.x]);
}
`,
      )
      yield kernel(
        `${f}-workgroup-${scalar}`,
        `${head}@group(0) @binding(1) var<storage, read_write> out: array<${scalar}>;
var<workgroup> shared_values: array<atomic<${scalar}>, 2>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u) {
  _ = ${f}(&shared_values[i & 1], values[id.x]);
  workgroupBarrier();
  if i < 2 {
    out[group.x * 2 + i] = atomicLoad(&shared_values[i]);
  }
}
`,
      )
    }
    yield kernel(
      `atomicExchange-${scalar}`,
      `// run: workgroups=1,1,1
// buffer out: ${scalar}[4] values(5, 6, 7, 8)

struct Cell {
  state: atomic<${scalar}>,
  old: ${scalar},
}
@group(0) @binding(0) var<storage, read_write> out: array<Cell, 2>;

@compute @workgroup_size(1)
fn main() {
  out[0].old = atomicExchange(&out[0].state, 40);
  atomicStore(&out[1].state, atomicLoad(&out[0].state) + out[0].old);
  out[1].old = atomicExchange(&out[1].state, 3);
}
`,
    )
    yield kernel(
      `atomicCompareExchangeWeak-${scalar}`,
      `// run: workgroups=1,1,1
// buffer out: ${scalar}[2] values(5, 0)

@group(0) @binding(0) var<storage, read_write> out: array<atomic<${scalar}>, 2>;

@compute @workgroup_size(64)
fn main() {
  // Each thread adds 3 by a loop of exchanges, which may fail spuriously.
  var done = false;
  for (var tries = 0; tries < 100000 && !done; tries++) {
    let seen = atomicLoad(&out[0]);
    let result = atomicCompareExchangeWeak(&out[0], seen, seen + 3);
    if result.exchanged {
      done = true;
      if result.old_value != seen {
        atomicAdd(&out[1], 1);
      }
    }
  }
}
`,
    )
  }
}

/** Subgroup and quad operations. */
export function* subgroupKernels(): Generator<TestKernel> {
  /**
   * Flags that hold whatever the size of subgroups. \`x\` is a value of the thread, \`lane\` and \`size\`
   * place it.
   */
  const subgroupChecks: Record<string, string> = {
    subgroupElect:
      'subgroupBroadcastFirst(lane) == lane && subgroupElect() || subgroupBroadcastFirst(lane) != lane && !subgroupElect()',
    subgroupAll: 'subgroupAll(lane < size) && !subgroupAll(lane == 0u && size > 1u)',
    subgroupAny: 'subgroupAny(lane == 0u) && !subgroupAny(lane >= size)',
    subgroupBallot:
      'countOneBits(subgroupBallot(true).x) == min(size, 32u) && subgroupBallot(lane == 1u).x == 2u',
    subgroupBroadcast: 'subgroupBroadcast(lane, 2) == 2u',
    subgroupBroadcastFirst: 'subgroupBroadcastFirst(lane) == 0u',
    subgroupShuffle: 'subgroupShuffle(lane, (lane + 1u) % size) == (lane + 1u) % size',
    subgroupShuffleXor: 'subgroupShuffleXor(lane, 1u) == (lane ^ 1u)',
    subgroupShuffleUp: 'lane == 0u || subgroupShuffleUp(lane, 1u) == lane - 1u || lane == 0u',
    subgroupShuffleDown: 'lane + 1u == size || subgroupShuffleDown(lane, 1u) == lane + 1u',
    subgroupAdd: 'subgroupAdd(lane) == size * (size - 1u) / 2u && subgroupAdd(1.0) == f32(size)',
    subgroupExclusiveAdd:
      'subgroupExclusiveAdd(2u) == lane * 2u && subgroupExclusiveAdd(vec2i(1, -1)).y == -i32(lane)',
    subgroupInclusiveAdd: 'subgroupInclusiveAdd(2u) == lane * 2u + 2u',
    subgroupMul: 'subgroupMul(select(1u, 3u, lane < 2u)) == 9u',
    subgroupExclusiveMul: 'subgroupExclusiveMul(select(1u, 2u, lane < 3u)) == 1u << min(lane, 3u)',
    subgroupInclusiveMul: 'subgroupInclusiveMul(select(1u, 2u, lane < 3u)) == 1u << min(lane + 1u, 3u)',
    subgroupMin: 'subgroupMin(lane + 7u) == 7u && subgroupMin(-f32(lane)) == -f32(size - 1u)',
    subgroupMax: 'subgroupMax(lane) == size - 1u && subgroupMax(-i32(lane)) == 0',
    subgroupAnd: 'subgroupAnd(lane | 256u) == 256u',
    subgroupOr: 'subgroupOr(lane) == size - 1u',
    subgroupXor: 'subgroupXor(1u << (lane & 31u)) == subgroupOr(1u << (lane & 31u))',
    quadBroadcast: 'quadBroadcast(lane, 1u) == (lane & ~3u) + 1u',
    quadSwapX: 'quadSwapX(lane) == (lane ^ 1u)',
    quadSwapY: 'quadSwapY(lane) == (lane ^ 2u)',
    quadSwapDiagonal: 'quadSwapDiagonal(lane) == (lane ^ 3u)',
  }
  for (const [f, check] of Object.entries(subgroupChecks)) {
    // The operands of && and || are evaluated first, since subgroup functions must be reached by all threads.
    let hoisted = ''
    let count = 0
    const condition = check.replace(
      /(subgroup|quad)[A-Z]\w*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g,
      (call) => {
        hoisted += `  let r${count} = ${call};\n`
        return `r${count++}`
      },
    )
    yield kernel(
      f,
      `// run: workgroups=2,1,1
// buffer out: u32[128]
enable subgroups;

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(
  @builtin(global_invocation_id) id: vec3u,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) size: u32,
) {
${hoisted}  out[id.x] = select(0u, 1u, ${condition.includes('||') && condition.includes('&&') ? condition.replace(/^(.*) \|\| (.*)$/, '($1) || ($2)') : condition});
}
`,
    )
  }
}
