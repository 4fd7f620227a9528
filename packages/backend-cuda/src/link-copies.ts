import type { Plan } from '@tandem-gpu/core'
import type { Handles, PlanCommand } from '@tandem-gpu/core/backend'

/** Which physical GPUs the devices are on, and which GPUs can access each other. */
export interface Links {
  /** The physical GPU of a device ordinal. */
  gpuOf(device: number): number
  /** Whether the first GPU can access the other's memory. */
  reachable(reader: number, owner: number): boolean
  /** Whether the GPU reaches any one other GPU with all of its links. */
  isSwitched(gpu: number): boolean
}

/**
 * Returns the plan with large copies between GPUs driven by the sender, because copies that the receivers
 * drive read over the links, at 217 GB/s into each of 4 H200s. The copies of one sender run one after another
 * in recorded order: if they run concurrently, they reach 387 GB/s in some runs, but 175 GB/s in others, in
 * which some wait for the links until others have ended; one after another, they always reach 375 to 389 GB/s.
 * If a GPU has separate links to each other one, only the copies to the same receiver run one after another.
 * The added edges point forward, so the order stays valid. Copies of at most `byteLength` bytes are unchanged:
 * they run as kernels, or are too short to matter.
 */
export function sendLinkCopies<H extends Handles>(plan: Plan<H>, links: Links, byteLength: number): Plan<H> {
  const first = new Map<string, number>()
  const last = new Map<string, number>()
  const sent = plan.commands.map((command): PlanCommand => {
    const sent = linkOf(plan, command, links, byteLength)
    if (sent === undefined) return command
    if (plan.schedule === 'serial') return { ...command, device: sent.sender }
    const previous = last.get(sent.link)
    if (previous === undefined) first.set(sent.link, command.index)
    last.set(sent.link, command.index)
    return { ...command, device: sent.sender, after: withIndex(command.after, previous) }
  })
  if (sent.every((command, index) => command === plan.commands[index])) return plan
  // The next repetition's first copy over a link follows this repetition's last one.
  const across = new Map([...first].map(([link, index]) => [index, last.get(link)!]))
  const commands = sent.map((command): PlanCommand => {
    const previous = across.get(command.index)
    if (previous === undefined || previous === command.index) return command
    return { ...command, afterPrevious: withIndex(command.afterPrevious, previous) }
  })
  return { ...plan, commands }
}

/** Whether a copy of the plan moves more than `byteLength` bytes between GPUs. */
export function hasLinkCopies(plan: Plan, links: Links, byteLength: number): boolean {
  return plan.commands.some((command) => linkOf(plan, command, links, byteLength) !== undefined)
}

/**
 * The device that sends a large copy to another GPU, and a name for the links that the copy uses; undefined
 * for all other commands.
 */
function linkOf(
  plan: Plan,
  command: PlanCommand,
  links: Links,
  byteLength: number,
): { readonly sender: number; readonly link: string } | undefined {
  if (command.kind !== 'copy') return undefined
  const { source, target } = command
  if (source.rowByteLength * source.rows <= byteLength) return undefined
  const [from, to] = [plan.buffers[source.buffer]!, plan.buffers[target.buffer]!]
  if (from.kind !== 'device' || to.kind !== 'device') return undefined
  const [sender, receiver] = [links.gpuOf(from.device), links.gpuOf(to.device)]
  if (sender === receiver) return undefined
  if (!links.reachable(sender, receiver) || !links.reachable(receiver, sender)) return undefined
  return { sender: from.device, link: links.isSwitched(sender) ? `${sender}` : `${sender} ${receiver}` }
}

function withIndex(indices: readonly number[], added: number | undefined): readonly number[] {
  if (added === undefined || indices.includes(added)) return indices
  return [...indices, added].sort((a, b) => a - b)
}
