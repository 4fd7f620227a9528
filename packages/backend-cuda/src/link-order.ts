import type { Plan, PlanCommand } from '@tandem-gpu/core'

/** What deciding needs of the devices. */
export interface LinkOrderOptions {
  /** Physical GPU of a device ordinal. */
  readonly gpuOf: (device: number) => number
  /** Copies up to here run as kernels or too shortly to matter. */
  readonly byteLengthAbove: number
}

/**
 * The plan with large copies from GPU to GPU one after another on each receiver, in recorded order. Two at once on a receiver gain
 * nothing, since they share its link, and the copy engines finish them in any order: then several receivers wait for the same
 * sender while other senders idle (4 × H200, all to all: 223 GB/s into each GPU; in recorded order, where each stage pairs every
 * receiver with a sender of its own, the links run at their rate). The added edges point forward, so the order stays valid.
 */
export function orderLinkCopies(plan: Plan, { gpuOf, byteLengthAbove }: LinkOrderOptions): Plan {
  if (plan.schedule === 'serial') return plan
  const first = new Map<number, number>()
  const last = new Map<number, number>()
  const before = new Map<number, number>()
  for (const command of plan.commands) {
    const receiver = linkOf(plan, command, gpuOf, byteLengthAbove)
    if (receiver === undefined) continue
    const previous = last.get(receiver)
    if (previous === undefined) first.set(receiver, command.index)
    else before.set(command.index, previous)
    last.set(receiver, command.index)
  }
  if (before.size === 0) return plan
  const across = new Map([...first].map(([receiver, index]) => [index, last.get(receiver)!]))
  const commands = plan.commands.map((command): PlanCommand => {
    const same = before.get(command.index)
    const previous = across.get(command.index)
    if (same === undefined && previous === undefined) return command
    return {
      ...command,
      after: withIndex(command.after, same),
      afterPrevious: withIndex(command.afterPrevious, previous),
    }
  })
  return { ...plan, commands }
}

/** The GPU that receives a large copy from another one; undefined for all other commands. */
function linkOf(
  plan: Plan,
  command: PlanCommand,
  gpuOf: LinkOrderOptions['gpuOf'],
  byteLengthAbove: number,
): number | undefined {
  if (command.kind !== 'copy') return undefined
  const { source, target } = command
  if (source.rowByteLength * source.rows <= byteLengthAbove) return undefined
  const [from, to] = [plan.buffers[source.buffer]!, plan.buffers[target.buffer]!]
  if (from.kind !== 'device' || to.kind !== 'device') return undefined
  const receiver = gpuOf(to.device)
  return gpuOf(from.device) === receiver ? undefined : receiver
}

function withIndex(indices: readonly number[], added: number | undefined): readonly number[] {
  if (added === undefined || indices.includes(added)) return indices
  return [...indices, added].sort((a, b) => a - b)
}
