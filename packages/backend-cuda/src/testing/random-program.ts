import type { ByteRegion, PlanCommand } from '@tandem-gpu/core/backend'
import { seededRandom } from '@tandem-gpu/core/testing'
import type { CudaAllocation } from '../cuda-plan.ts'
import type { LocalRuntime } from '../local-runtime.ts'
import { dispatch, plan, region } from './plan-text.ts'
import { testKernelSource } from './test-kernels.ts'

/** Words of a buffer. */
const length = 96

interface Access {
  readonly reads: readonly ByteRegion[]
  readonly writes: readonly ByteRegion[]
}

function randomNumbers(seed: number): (below: number) => number {
  const random = seededRandom(seed)
  return (below) => (random() * 2 ** 32) % below
}

function words({ byteOffset, rowByteLength, rows, rowByteStride }: ByteRegion): number[] {
  return Array.from({ length: (rowByteLength * rows) / 4 }, (_, index) => {
    const perRow = rowByteLength / 4
    return (byteOffset + Math.floor(index / perRow) * rowByteStride) / 4 + (index % perRow)
  })
}

function overlap(a: ByteRegion, b: ByteRegion): boolean {
  if (a.buffer !== b.buffer) return false
  const of = new Set(words(a))
  return words(b).some((word) => of.has(word))
}

function conflict(a: Access, b: Access): boolean {
  const touches = (x: readonly ByteRegion[], y: readonly ByteRegion[]) =>
    x.some((r) => y.some((s) => overlap(r, s)))
  return touches(a.writes, b.writes) || touches(a.writes, b.reads) || touches(a.reads, b.writes)
}

/**
 * Runs random commands on random buffers of all devices, with every edge that their overlaps require. Returns
 * the differences from executing them one after another.
 */
export async function randomProgramDifferences(
  runtime: LocalRuntime,
  seed: number,
  commandCount: number,
  runs: readonly number[],
): Promise<string[]> {
  const random = randomNumbers(seed)
  const deviceCount = runtime.devices.length
  const kernel = await runtime.compile(testKernelSource('add'))
  const allocations: CudaAllocation[] = []
  for (let index = 0; index < deviceCount * 2; index += 1) {
    allocations.push(
      await runtime.allocate(index % deviceCount, length * 4, { label: `b${index}`, zero: true }),
    )
  }
  const model = allocations.map(() => new Uint32Array(length))
  const accesses: Access[] = []
  const steps: (() => void)[] = []
  const commands: Parameters<typeof plan>[1][number][] = []
  const uniforms: number[] = []
  while (commands.length < commandCount) {
    const kind = random(4)
    const count = 1 + random(24)
    const at = (buffer: number, rows = 1, stride = count) =>
      region(buffer, random(length - stride * (rows - 1) - count + 1) * 4, count * 4, rows, stride * 4)
    let target: ByteRegion
    let source: ByteRegion | undefined
    let command: Parameters<typeof plan>[1][number]
    let step: () => void
    if (kind === 0) {
      const value = random(1000)
      const to = at(random(allocations.length))
      target = to
      command = {
        kind: 'fill',
        device: allocations[to.buffer]!.device,
        target: to,
        pattern: value,
        patternByteLength: 4,
        after: [],
        afterPrevious: [],
      }
      step = () => {
        for (const word of words(to)) model[to.buffer]![word] = value
      }
    } else if (kind === 1) {
      const rows = 1 + random(2)
      const from = at(random(allocations.length), rows, count + random(10))
      const to = at(random(allocations.length), rows, count + random(10))
      if (overlap(from, to)) continue
      source = from
      target = to
      command = {
        kind: 'copy',
        device: allocations[to.buffer]!.device,
        source: from,
        target: to,
        after: [],
        afterPrevious: [],
      }
      step = () => {
        const values = words(from).map((word) => model[from.buffer]![word]!)
        for (const [index, word] of words(to).entries()) model[to.buffer]![word] = values[index]!
      }
    } else {
      // Bindings start at the buffer, so the kernel starts there too.
      const device = random(deviceCount)
      const own = [device, device + deviceCount]
      const from = region(random(2) === 0 ? own[0]! : random(allocations.length), 0, count * 4)
      const to = region(own[random(2)]!, 0, count * 4)
      if (from.buffer === to.buffer && random(2) === 0) continue
      const amount = 1 + random(100)
      source = from
      target = to
      command = dispatch(device, from, to, uniforms.length)
      uniforms.push(amount)
      step = () => {
        for (let word = 0; word < count; word += 1) {
          model[to.buffer]![word] = model[from.buffer]![word]! + amount
        }
      }
    }
    commands.push(command)
    accesses.push({ reads: source === undefined ? [] : [source], writes: [target] })
    steps.push(step)
  }
  const linked = commands.map((command, index) => ({
    ...command,
    after: accesses.flatMap((access, earlier) =>
      earlier < index && conflict(access, accesses[index]!) ? [earlier] : [],
    ),
    afterPrevious: accesses.flatMap((access, other) =>
      other >= index && conflict(access, accesses[index]!) ? [other] : [],
    ),
  })) as typeof commands
  const executable = await runtime.instantiate(
    plan(
      allocations,
      linked as readonly Omit<PlanCommand, 'index' | 'label'>[] as typeof commands,
      [kernel],
      uniforms,
    ),
  )
  const differences: string[] = []
  for (const times of runs) {
    await runtime.run(executable, { times })
    for (let repetition = 0; repetition < times; repetition += 1) for (const step of steps) step()
    for (const [index, allocation] of allocations.entries()) {
      const bytes = new Uint8Array(length * 4)
      await runtime.read(
        { allocation, byteOffset: 0, rowByteLength: length * 4, rows: 1, rowByteStride: length * 4 },
        bytes,
      )
      const found = new Uint32Array(bytes.buffer)
      const word = found.findIndex((value, at) => value !== model[index]![at])
      if (word >= 0) {
        differences.push(
          `seed ${seed}, ${times} times: b${index}[${word}] is ${found[word]}, not ${model[index]![word]}`,
        )
      }
    }
  }
  runtime.release(executable)
  runtime.releaseKernel(kernel)
  for (const allocation of allocations) runtime.free(allocation)
  return differences
}
