import type { ByteRegion, PlanCommand } from '@tandem-gpu/core/backend'
import type { CudaKernel } from '../cuda-kernel.ts'
import type { CudaAllocation, RecordedPlan } from '../cuda-plan.ts'
import type { CudaHostAllocation } from '../host-memory.ts'

type Placed = CudaAllocation | CudaHostAllocation
type Unplaced = PlanCommand extends infer C
  ? C extends PlanCommand
    ? Omit<C, 'index' | 'label'>
    : never
  : never

/** Creates a plan from its commands, for tests of the runtime alone. */
export function plan(
  buffers: readonly Placed[],
  commands: readonly Unplaced[],
  kernels: readonly CudaKernel[] = [],
  uniforms: readonly number[] = [],
): RecordedPlan {
  const uniformBlock = new Uint8Array(uniforms.length * 256)
  for (const [index, value] of uniforms.entries())
    new DataView(uniformBlock.buffer).setUint32(index * 256, value, true)
  return {
    label: 'test',
    schedule: 'overlapped',
    buffers: buffers.map((allocation, index) =>
      'arrayBuffer' in allocation
        ? { kind: 'host', label: `h${index}`, byteLength: allocation.arrayBuffer.byteLength, allocation }
        : {
            kind: 'device',
            label: `b${index}`,
            device: allocation.device,
            byteLength: allocation.byteLength,
            allocation,
          },
    ),
    kernels,
    commands: commands.map((command, index) => ({ ...command, index, label: `c${index}` }) as PlanCommand),
    uniformBlock,
  }
}

export function region(
  buffer: number,
  byteOffset: number,
  rowByteLength: number,
  rows = 1,
  rowByteStride = rowByteLength,
): ByteRegion {
  return { buffer, byteOffset, rowByteLength, rows, rowByteStride }
}

/** A dispatch of a test kernel: from `source` into `target`, both u32. */
export function dispatch(
  device: number,
  source: ByteRegion,
  target: ByteRegion,
  uniformSlot: number,
  edges: {
    after?: readonly number[]
    afterPrevious?: readonly number[]
    kernel?: number
    workgroups?: number
  } = {},
): Unplaced {
  const storage = (view: ByteRegion, binding: number) => ({
    kind: 'storage' as const,
    group: 0,
    binding,
    name: binding === 0 ? 'source' : 'target',
    access: binding === 0 ? ('read' as const) : ('read_write' as const),
    buffer: view.buffer,
    byteOffset: Math.floor(view.byteOffset / 256) * 256,
    byteLength: view.byteOffset + view.rowByteLength * view.rows - Math.floor(view.byteOffset / 256) * 256,
    view,
    reads: binding === 0,
    writes: binding === 1,
  })
  return {
    kind: 'dispatch',
    device,
    after: edges.after ?? [],
    afterPrevious: edges.afterPrevious ?? [],
    kernel: edges.kernel ?? 0,
    workgroups: [edges.workgroups ?? Math.ceil(target.rowByteLength / 16), 1, 1],
    bindings: [
      storage(source, 0),
      storage(target, 1),
      { kind: 'uniform', group: 0, binding: 2, name: 'amount', byteOffset: uniformSlot * 256, byteLength: 4 },
    ],
  }
}
