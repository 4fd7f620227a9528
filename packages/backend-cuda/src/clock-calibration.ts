import type { Span } from '@tandem-gpu/core/backend'
import { internalNode } from './command-nodes.ts'
import type { CudaPlan } from './cuda-plan.ts'
import { encodeNodes } from './graph-nodes.ts'
import { internalKernels } from './internal-kernels.ts'
import type { PhysicalGpus } from './physical-gpus.ts'

/** For each GPU, its clock minus the clock of the reference GPU, in nanoseconds. */
export type ClockOffsets = ReadonlyMap<number, number>

/** The number of rounds of the ping-pong; the quickest determines the result. */
const calibrationRounds = 64

/**
 * Measures the offset of every GPU's clock from GPU 0's. GPUs that GPU 0 cannot access keep offset 0: their
 * spans are off by up to 0.1 ms.
 */
export async function measureClocks(physical: PhysicalGpus): Promise<ClockOffsets> {
  const offsets = new Map<number, number>([[0, 0]])
  for (let gpu = 1; gpu < physical.count; gpu += 1) {
    const mutual = physical.reachable(0, gpu) && physical.reachable(gpu, 0)
    offsets.set(gpu, mutual ? await measureOffset(physical, gpu) : 0)
  }
  return offsets
}

async function measureOffset(physical: PhysicalGpus, gpu: number): Promise<number> {
  const { native } = physical
  // On each side: one flag, then the stamps.
  const byteLength = (2 * calibrationRounds + 1) * 8
  const sides: { gpu: number; address: number }[] = []
  const ids: number[] = []
  try {
    for (const side of [0, gpu])
      sides.push({ gpu: side, address: await native.allocate(side, byteLength, true) })
    const created = sides.map((side, role) => {
      ids.push(physical.nextId())
      const parameters = [role, side.address, sides[1 - role]!.address, side.address + 8, calibrationRounds]
      const node = internalNode(physical, side.gpu, internalKernels.pingPong, parameters)
      return native.createGraph(ids[role]!, side.gpu, encodeNodes([{ ...node, after: [] }]))
    })
    await Promise.all(created)
    const { collected } = await native.run({
      before: [],
      steps: [{ graphs: ids, count: 1 }],
      uniformTargets: [],
      collect: sides.map((side) => ({ ...side, byteLength, clear: false })),
      abortWord: new Int32Array(1),
    })
    const [reference, other] = collected.map(stampWords)
    return clockOffset(reference!.subarray(1), other!.subarray(1, 1 + calibrationRounds))
  } finally {
    for (const id of ids) native.destroyGraph(id)
    for (const side of sides) native.free(side.address)
  }
}

/** Time stamps as the GPUs write them, in nanoseconds. */
export function stampWords(bytes: Uint8Array<ArrayBuffer>): BigUint64Array {
  return new BigUint64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8)
}

/**
 * The offset between two GPUs' clocks from a ping-pong. In each round, the reference GPU records when it
 * sends and when the answer arrives, and the other GPU records its turn. The round with the shortest
 * round-trip time limits the error to half of that time (D. Mills, RFC 5905, section 8).
 */
function clockOffset(reference: BigUint64Array, other: BigUint64Array): number {
  let best = { roundTrip: Number.POSITIVE_INFINITY, offset: 0 }
  for (let round = 0; round < other.length; round += 1) {
    const sent = reference[round * 2]!
    const returned = reference[round * 2 + 1]!
    const turn = other[round]!
    // A kernel whose wait times out leaves the remaining stamps zero.
    if (sent === 0n || returned === 0n || turn === 0n) continue
    const roundTrip = Number(returned - sent)
    if (roundTrip < best.roundTrip) best = { roundTrip, offset: Number(turn - sent) - roundTrip / 2 }
  }
  return best.offset
}

/**
 * For each GPU with stamps, one span for each command of the last repetition, on the clock of the GPU that
 * stamped the start.
 */
export function spansFrom(
  plan: CudaPlan,
  repetition: number,
  gpuOf: (device: number) => number,
  stampsOf: (gpu: number) => BigUint64Array | undefined,
  startNanoseconds: bigint,
  offsets: ClockOffsets,
): Span[] {
  return plan.commands.flatMap((command) => {
    const gpu = gpuOf(command.device)
    const stamps = stampsOf(gpu)
    if (stamps === undefined) return []
    const seconds = (slot: number) =>
      (Number((stamps[slot] ?? 0n) - startNanoseconds) - (offsets.get(gpu) ?? 0)) / 1e9
    return {
      command: command.index,
      repetition,
      device: command.device,
      startSeconds: Math.max(0, seconds(command.index * 2)),
      endSeconds: Math.max(0, seconds(command.index * 2 + 1)),
    }
  })
}
