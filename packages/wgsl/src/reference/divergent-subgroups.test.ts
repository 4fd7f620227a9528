import { expect, it } from 'vitest'
import { openDawnDevice } from '../cuda/testing/dawn-device.ts'
import { dawnJob, kernelCase, referenceRun } from '../cuda/testing/kernel-cases.ts'
import { Random } from '../testing/random.ts'
import { testCases } from '../testing/test-cases.ts'

const dawn = await openDawnDevice()

/**
 * A kernel whose lanes reach subgroup operations, in its own text and in functions, in different numbers. It
 * has one workgroup of four invocations, which are a subgroup here and on SwiftShader.
 */
function divergentKernel(seed: number): string {
  const random = new Random(seed)
  let names = 0
  const value = () =>
    random.pick(['li', 'sum', 'x', '(li * 3u + 1u)', `${random.below(9)}u`, 'input[li]', '(sum + x)'])
  const operation = () => {
    const v = value()
    return random.pick([
      `subgroupAdd(${v})`,
      `subgroupMax(${v})`,
      `subgroupXor(${v})`,
      `subgroupExclusiveAdd(${v})`,
      `subgroupBroadcastFirst(${v})`,
      `subgroupBallot((${v} & 1u) == 0u).x`,
      `u32(subgroupAny(${v} > 9u))`,
      'u32(subgroupElect())',
    ])
  }
  const condition = () =>
    random.pick([
      `li < ${random.below(4)}u`,
      `(x & ${random.below(7)}u) == 0u`,
      `(sum & 3u) != ${random.below(4)}u`,
    ])
  const statements = (depth: number, leave: string): string => `{ ${one(depth, leave)} ${one(depth, leave)} }`
  /** `leave` is what leaves the loop around the statement, or a round of it. */
  const one = (depth: number, leave: string): string => {
    const name = `k${names++}`
    const all = [
      () => `sum = sum * 3u + ${operation()};`,
      () => `x = x * 5u + sum + ${operation()};`,
      () => `if ${condition()} { sum += ${operation()}; ${leave} }`,
      () => `if ${condition()} && ${operation()} > 3u { sum += ${operation()}; }`,
      () => (depth === 2 ? `sum ^= f${random.below(2)}(sum, x, li);` : 'x += li;'),
    ]
    const nested = [
      () => `if ${condition()} ${statements(depth - 1, leave)} else ${statements(depth - 1, leave)}`,
      () =>
        `for (var ${name} = 0u; ${name} < ${random.pick(['li', '3u', '(x & 3u)'])}; ${name}++) ${statements(depth - 1, random.pick(['break;', 'continue;']))}`,
      () =>
        `var ${name} = 0u; loop { ${name}++; if ${name} > 3u { break; } ${one(depth - 1, 'break;')} continuing { ${one(0, '')} break if ${condition()}; } }`,
      () =>
        `switch ${value()} % 3u { case 0u, 1u ${statements(depth - 1, '')} default ${statements(depth - 1, '')} }`,
    ]
    return random.pick(depth > 0 ? [...all, ...nested, ...nested] : all)()
  }
  const declared = [0, 1].map(
    (f) =>
      `fn f${f}(s: u32, y: u32, li: u32) -> u32 { var sum = s; var x = y; ${one(1, '')} if ${condition()} { return ${operation()}; } ${one(1, '')} return sum ^ x; }`,
  )
  return `// run: workgroups=1,1,1
// buffer out: u32[4]
// buffer input: u32[4] random(0, 20)
enable subgroups;
diagnostic(off, subgroup_uniformity);
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> input: array<u32>;
${declared.join('\n')}
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) li: u32) {
  var sum = li;
  var x = input[li];
  ${one(2, '')}
  ${one(2, '')}
  ${one(2, '')}
  out[li] = sum ^ (x * 7u);
}`
}

it.skipIf(typeof dawn === 'string')(
  `lanes that go different ways come together where Dawn's do${typeof dawn === 'string' ? ` (needs ${dawn})` : ''}`,
  { timeout: 600_000 },
  async ({ task }) => {
    if (typeof dawn === 'string') return
    const bad: string[] = []
    const seeds = testCases(60, 5000)
    for (const seed of seeds) {
      const c = kernelCase(`divergent ${seed}`, divergentKernel(seed))
      const words = (buffers: readonly Uint8Array[]) =>
        [...new Uint32Array(buffers[0]!.slice().buffer)].join(' ')
      const [ours, theirs] = [words(referenceRun(c)), words(await dawn.run(dawnJob(c)))]
      if (ours !== theirs) bad.push(`${c.name} gives ${ours}, on Dawn ${theirs}`)
    }
    task.meta.cases = seeds.length
    expect(bad).toEqual([])
  },
)
