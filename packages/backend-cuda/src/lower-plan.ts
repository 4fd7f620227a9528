import type { PlanCommand } from '@tandem-gpu/core'
import { commandNodes, internalNode, type PlanMemory } from './command-nodes.ts'
import type { CudaPlan } from './cuda-plan.ts'
import type { GraphNode, NodeBody } from './graph-nodes.ts'
import { internalKernels } from './internal-kernels.ts'
import { unroll } from './unrolling.ts'

/** Graphs that start together, each launched on its GPU. */
export type GraphSet = readonly { readonly mainGpu: number; readonly nodes: readonly GraphNode[] }[]

/** `repetitions` of a plan as ONE graph over all its GPUs: edges between GPUs are the driver's (6 µs each on H200). */
export function lowerToOneGraph(plan: CudaPlan, repetitions: number, memory: PlanMemory): GraphSet {
  return chained(plan, repetitions, (command) => commandNodes(plan, command, memory))
}

/** One repetition as one graph in which a stamp precedes and follows every command: slots 2 i and 2 i + 1 of the command's GPU. */
export function lowerProfiled(
  plan: CudaPlan,
  memory: PlanMemory,
  stampAddress: (gpu: number, slot: number) => number,
): GraphSet {
  return chained(plan, 1, (command) => stampedNodes(plan, command, memory, stampAddress))
}

/** The nodes of a command with a stamp before and after. */
export function stampedNodes(
  plan: CudaPlan,
  command: PlanCommand,
  memory: PlanMemory,
  stampAddress: (gpu: number, slot: number) => number,
): NodeBody[] {
  const gpu = memory.gpuOf(command.device)
  const stamp = (slot: number) => stampNode(memory, gpu, stampAddress(gpu, slot))
  return [stamp(command.index * 2), ...commandNodes(plan, command, memory), stamp(command.index * 2 + 1)]
}

/** A node that writes its GPU's clock to eight bytes at `address`. */
export function stampNode(memory: PlanMemory, gpu: number, address: number): NodeBody {
  return internalNode(memory, gpu, internalKernels.stamp, [address])
}

/** One graph in which the nodes of each command follow one another. */
function chained(
  plan: CudaPlan,
  repetitions: number,
  bodiesOf: (command: PlanCommand) => readonly NodeBody[],
): GraphSet {
  const bodies = plan.commands.map(bodiesOf)
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
