import type { Plan, Span } from '@tandem-gpu/core'

/** Clock of GPU `gpu` minus the clock of the reference GPU, in nanoseconds. */
export type ClockOffsets = ReadonlyMap<number, number>

/** Turns of the ping-pong; the quickest decides. */
export const calibrationRounds = 64

/**
 * The offset between two GPUs' clocks from a ping-pong: of each round, the reference GPU stamps sending and arrival, the other one
 * stamps its turn. The round with the shortest way there and back bounds the error by half of it (D. Mills, RFC 5905, section 8).
 */
export function clockOffset(reference: BigUint64Array, other: BigUint64Array): number {
  let best = { roundTrip: Number.POSITIVE_INFINITY, offset: 0 }
  for (let round = 0; round < other.length; round += 1) {
    const sent = reference[round * 2]
    const returned = reference[round * 2 + 1]
    const turn = other[round]
    if (sent === undefined || returned === undefined || turn === undefined) break
    if (sent === 0n || returned === 0n || turn === 0n) continue
    const roundTrip = Number(returned - sent)
    if (roundTrip < best.roundTrip) best = { roundTrip, offset: Number(turn - sent) - roundTrip / 2 }
  }
  return best.offset
}

/** One span for each command of the last repetition, on the clock of the GPU that stamped the start. */
export function spansFrom(
  plan: Plan,
  repetition: number,
  gpuOf: (device: number) => number,
  stampsOf: (gpu: number) => BigUint64Array,
  startNanoseconds: bigint,
  offsets: ClockOffsets,
): Span[] {
  return plan.commands.map((command) => {
    const gpu = gpuOf(command.device)
    const stamps = stampsOf(gpu)
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
