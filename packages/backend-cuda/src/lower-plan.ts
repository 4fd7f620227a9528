import { commandNodes, internalNode, type PlanAddresses } from './command-nodes.ts'
import type { CudaCommand, CudaPlan } from './cuda-plan.ts'
import type { GraphNode, NodeBody } from './graph-nodes.ts'
import { internalKernels } from './internal-kernels.ts'
import { unroll } from './unrolling.ts'

/** Graphs that start together, each on its GPU. */
export type GraphSet = readonly { readonly mainGpu: number; readonly nodes: readonly GraphNode[] }[]

/**
 * `repetitions` of a plan as ONE graph over all its GPUs. The driver implements the edges between GPUs (6 µs
 * each on H200). The nodes of each command follow one another.
 */
export function lowerToOneGraph(
  plan: CudaPlan,
  repetitions: number,
  memory: PlanAddresses,
  nodesOf: (command: CudaCommand) => readonly NodeBody[] = (command) => commandNodes(plan, command, memory),
): GraphSet {
  const bodies = plan.commands.map(nodesOf)
  const nodes: GraphNode[] = []
  const last: number[] = []
  for (const { command, after } of unroll(plan.commands, repetitions)) {
    let waits = after.map((position) => last[position]!)
    for (const body of bodies[command.index]!) {
      nodes.push({ ...body, after: waits })
      waits = [nodes.length - 1]
    }
    last.push(nodes.length - 1)
  }
  return [{ mainGpu: nodes[0]?.gpu ?? 0, nodes }]
}

/** The nodes of a command, with a stamp before and after them in slots 2 i and 2 i + 1 of its GPU. */
export function stampedNodes(
  plan: CudaPlan,
  command: CudaCommand,
  memory: PlanAddresses,
  stampAddress: (gpu: number, slot: number) => number,
): NodeBody[] {
  const gpu = memory.gpuOf(command.device)
  const stamp = (slot: number) => stampNode(memory, gpu, stampAddress(gpu, slot))
  return [stamp(command.index * 2), ...commandNodes(plan, command, memory), stamp(command.index * 2 + 1)]
}

/** A node that writes its GPU's clock to eight bytes at `address`. */
export function stampNode(memory: PlanAddresses, gpu: number, address: number): NodeBody {
  return internalNode(memory, gpu, internalKernels.stamp, [address])
}
