import { peerKernelByteLength } from './command-nodes.ts'
import type { CudaPlan, RecordedPlan } from './cuda-plan.ts'
import { hasLinkCopies, type Links, sendLinkCopies } from './link-copies.ts'

/**
 * How a program over several GPUs becomes CUDA graphs. `one-graph`: the driver orders commands on different
 * GPUs. `graph-per-gpu`: kernels that signal and wait order them; this needs GPUs that can all access each
 * other, and no copies within host memory. `auto`: `one-graph` if GPUs copy megabytes to each other,
 * otherwise `graph-per-gpu`.
 */
export type Lowering = 'auto' | 'one-graph' | 'graph-per-gpu'

/** A plan, and how its commands become graphs. */
export interface LoweredPlan {
  readonly plan: CudaPlan
  readonly lowering: Exclude<Lowering, 'auto'>
  /** Whether GPUs copy megabytes to each other. */
  readonly largeCopies: boolean
  /** The physical GPUs on which the plan's commands run. */
  readonly gpus: readonly number[]
}

/**
 * The smallest copy between GPUs for which a driver edge (6 µs) costs less than the delay that waiting
 * kernels cause.
 */
const drivenByteLength = 2 ** 20

/**
 * Resolves `auto`. Waiting kernels suit short commands. After a large copy they are harmful: a wait starts
 * only after all earlier signals of its GPU, including those of copies in progress, and a signal cannot start
 * on a GPU that a long kernel fills. On 4 H200s, the transpose of 32768² by copies took 6 ms with them, and
 * 2.3 ms in one graph.
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
  // A copy that its sender drives must wait for its receiver; only the driver orders that without blocking
  // either GPU.
  const plan = sendLinkCopies(recorded, links, peerKernelByteLength)
  return { plan, lowering: 'one-graph', largeCopies, gpus: gpusOf(plan, links) }
}

/** Lowers a whole plan of several processes to one graph per GPU, since no graph spans processes. */
export function lowerShared(recorded: RecordedPlan, links: Links): LoweredPlan {
  const largeCopies = hasLinkCopies(recorded, links, drivenByteLength)
  const plan = largeCopies ? sendLinkCopies(recorded, links, peerKernelByteLength) : recorded
  return { plan, lowering: 'graph-per-gpu', largeCopies, gpus: gpusOf(plan, links) }
}

export function gpusOf(plan: CudaPlan, links: Pick<Links, 'gpuOf'>): number[] {
  return [...new Set(plan.commands.map((command) => links.gpuOf(command.device)))]
}

/**
 * Whether a copy goes from host memory to host memory. The driver executes such copies itself, one after
 * another for all contexts, and a kernel that waits blocks them: on 2 H200s, such a program, lowered to one
 * graph for each GPU, never ended.
 */
function copiesOnHost({ commands, buffers }: RecordedPlan): boolean {
  return commands.some(
    (command) =>
      command.kind === 'copy' &&
      buffers[command.source.buffer]!.kind === 'host' &&
      buffers[command.target.buffer]!.kind === 'host',
  )
}
