import { peerKernelByteLength } from './command-nodes.ts'
import type { CudaPlan, RecordedPlan } from './cuda-plan.ts'
import { hasLinkCopies, type Links, sendLinkCopies } from './link-copies.ts'

/**
 * How a program over several GPUs becomes CUDA graphs. `one-graph`: the driver orders commands on different
 * GPUs. `graph-per-gpu`: kernels that signal and wait order them, where all GPUs of a program reach one
 * another and no copy stays on the host. `auto`: the driver where GPUs copy megabytes to each other, else the
 * kernels.
 */
export type Lowering = 'auto' | 'one-graph' | 'graph-per-gpu'

/** A plan, and how its commands become graphs. */
export interface LoweredPlan {
  readonly plan: CudaPlan
  readonly lowering: Exclude<Lowering, 'auto'>
  /** Whether GPUs copy megabytes to each other. */
  readonly largeCopies: boolean
  /** Physical GPUs that the plan's commands run on. */
  readonly gpus: readonly number[]
}

/**
 * Size of a copy between GPUs from which on an edge by the driver (6 µs) costs less than the work that
 * waiting kernels delay.
 */
const drivenByteLength = 2 ** 20

/**
 * Chooses what `auto` leaves open. Waiting kernels suit short commands. Behind a large copy they do harm: a
 * wait starts only after all earlier signals of its GPU, those of copies under way included, and a signal
 * cannot start on a GPU that a long kernel fills. On 4 H200s the transpose of 32768² by copies took 6 ms with
 * them, 2.3 ms in one graph.
 */
export function choosePlanLowering(recorded: RecordedPlan, wanted: Lowering, links: Links): LoweredPlan {
  const gpus = gpusOf(recorded, links)
  const largeCopies = hasLinkCopies(recorded, links, drivenByteLength)
  const allReach = gpus.every((reader) => gpus.every((owner) => links.reachable(reader, owner)))
  const driven =
    wanted === 'one-graph' ||
    gpus.length < 2 ||
    !allReach ||
    copiesOnHost(recorded) ||
    (wanted === 'auto' && largeCopies)
  if (!driven) return { plan: recorded, lowering: 'graph-per-gpu', largeCopies, gpus }
  // A copy that its sender drives waits for its receiver, and only the driver orders that without holding up
  // either GPU.
  const plan = sendLinkCopies(recorded, links, peerKernelByteLength)
  return { plan, lowering: 'one-graph', largeCopies, gpus: gpusOf(plan, links) }
}

/** A whole plan of several processes: no graph spans processes. */
export function lowerShared(recorded: RecordedPlan, links: Links): LoweredPlan {
  const largeCopies = hasLinkCopies(recorded, links, drivenByteLength)
  const plan = largeCopies ? sendLinkCopies(recorded, links, peerKernelByteLength) : recorded
  return { plan, lowering: 'graph-per-gpu', largeCopies, gpus: gpusOf(plan, links) }
}

export function gpusOf(plan: CudaPlan, links: Pick<Links, 'gpuOf'>): number[] {
  return [...new Set(plan.commands.map((command) => links.gpuOf(command.device)))]
}

/**
 * Does a copy go from host memory to host memory? The driver carries those out itself, one after another over
 * all contexts, and a kernel that waits holds them up: on 2 H200s such a program, lowered to one graph for
 * each GPU, never ended.
 */
function copiesOnHost({ commands, buffers }: RecordedPlan): boolean {
  return commands.some(
    (command) =>
      command.kind === 'copy' &&
      buffers[command.source.buffer]!.kind === 'host' &&
      buffers[command.target.buffer]!.kind === 'host',
  )
}
