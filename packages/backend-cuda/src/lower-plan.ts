import { commandNodes, type PlanMemory } from './command-nodes.ts'
import type { CudaPlan } from './cuda-plan.ts'
import type { GraphNode } from './graph-nodes.ts'
import { internalKernels } from './internal-kernels.ts'
import { unroll } from './unrolling.ts'

/** Graphs that start together, each launched on its GPU. */
export type GraphSet = readonly { readonly mainGpu: number; readonly nodes: readonly GraphNode[] }[]

/** `repetitions` of a plan as ONE graph over all its GPUs: edges between GPUs are the driver's (6 µs each on H200). */
export function lowerToOneGraph(plan: CudaPlan, repetitions: number, memory: PlanMemory): GraphSet {
  const bodies = plan.commands.map((command) => commandNodes(plan, command, memory))
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

/** A node that writes its GPU's clock to eight bytes at `address`. */
export function stampNode(
  memory: PlanMemory,
  gpu: number,
  address: number,
  after: readonly number[],
): GraphNode {
  return {
    kind: 'kernel',
    gpu,
    after,
    kernelId: memory.internalKernel(internalKernels.stamp, gpu),
    grid: [1, 1, 1],
    block: [1, 1, 1],
    dynamicSharedByteLength: 0,
    parameters: [address],
  }
}

/** One repetition as one graph in which a stamp precedes and follows every command: slots 2 i and 2 i + 1 of the command's GPU. */
export function lowerProfiled(
  plan: CudaPlan,
  memory: PlanMemory,
  stampAddress: (gpu: number, slot: number) => number,
): GraphSet {
  const nodes: GraphNode[] = []
  const last: number[] = []
  const stamp = (gpu: number, slot: number, after: readonly number[]) => {
    nodes.push(stampNode(memory, gpu, stampAddress(gpu, slot), after))
    return nodes.length - 1
  }
  for (const command of plan.commands) {
    const gpu = memory.gpuOf(command.device)
    const after = command.after.map((index) => last[index]!)
    let waits = [stamp(gpu, command.index * 2, after)]
    for (const body of commandNodes(plan, command, memory)) {
      nodes.push({ ...body, after: waits })
      waits = [nodes.length - 1]
    }
    last.push(stamp(gpu, command.index * 2 + 1, waits))
  }
  return [{ mainGpu: nodes[0]?.gpu ?? 0, nodes }]
}
