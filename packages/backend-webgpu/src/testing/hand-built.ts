import type { Plan } from '@tandem-gpu/core'
import type {
  Allocation,
  ByteRegion,
  HostAllocation,
  KernelHandle,
  KernelSource,
  PlanBinding,
  PlanBuffer,
  PlanCommand,
  Runtime,
} from '@tandem-gpu/core/backend'

type Binding = { name: string; space: 'storage' | 'uniform'; access: 'read' | 'read_write' }

/**
 * A kernel source with only the parts of the module that the backend reads: `bindings[i]` is
 * `@group(0) @binding(i)`.
 */
export function kernelSource(
  wgsl: string,
  bindings: readonly Binding[],
  more: Partial<Pick<KernelSource, 'label' | 'bounds' | 'constants' | 'entryPoint'>> & {
    features?: readonly string[]
    workgroupSize?: readonly [number, number, number]
  } = {},
): KernelSource {
  const { features = [], workgroupSize = [64, 1, 1], ...rest } = more
  const module = {
    features,
    workgroupSize,
    overrides: [],
    variables: bindings.map((binding, i) => ({ ...binding, binding: { group: 0, binding: i } })),
  }
  return {
    label: 'kernel',
    wgsl,
    entryPoint: 'main',
    constants: {},
    bounds: 'clamp',
    ...rest,
    module,
    reflection: {},
  } as unknown as KernelSource
}

export const storage = (name: string, access: 'read' | 'read_write'): Binding => ({
  name,
  space: 'storage',
  access,
})
export const uniform = (name: string): Binding => ({ name, space: 'uniform', access: 'read' })

/** A region of `rows` rows, or one contiguous run if `rows` and `rowByteStride` are omitted. */
export function region(
  buffer: number,
  byteOffset: number,
  rowByteLength: number,
  rows = 1,
  rowByteStride = rowByteLength,
): ByteRegion {
  return { buffer, byteOffset, rowByteLength, rows, rowByteStride }
}

/** Distributes over the kinds of command, which a plain `Omit` would merge. */
type UnplacedCommand<T = PlanCommand> = T extends PlanCommand
  ? Omit<T, 'index' | 'label' | 'after' | 'afterPrevious'>
  : never

/** Builds a plan in recorded order, with a chain of edges (this backend reads none). */
export class PlanBuilder {
  readonly buffers: PlanBuffer[] = []
  readonly kernels: KernelHandle[] = []
  readonly commands: PlanCommand[] = []
  uniformBlock = new Uint8Array(0)

  device(allocation: Allocation): number {
    const label = `buffer ${this.buffers.length}`
    return (
      this.buffers.push({
        kind: 'device',
        label,
        device: allocation.device,
        byteLength: allocation.byteLength,
        allocation,
      }) - 1
    )
  }

  host(allocation: HostAllocation): number {
    const { byteLength } = allocation.arrayBuffer
    return (
      this.buffers.push({ kind: 'host', label: `host ${this.buffers.length}`, byteLength, allocation }) - 1
    )
  }

  kernel(handle: KernelHandle): number {
    return this.kernels.push(handle) - 1
  }

  add(command: UnplacedCommand): this {
    const index = this.commands.length
    this.commands.push({
      ...command,
      index,
      label: `${command.kind} ${index}`,
      after: index === 0 ? [] : [index - 1],
      afterPrevious: [],
    } as PlanCommand)
    return this
  }

  /** Dispatches `kernel` on whole buffers, bound in order with the given `access`. */
  dispatch(
    device: number,
    kernel: number,
    workgroups: number,
    bound: readonly { buffer: number; access: 'read' | 'read_write' }[],
    uniformBinding?: { byteOffset: number; byteLength: number },
  ): this {
    const bindings: PlanBinding[] = bound.map(({ buffer, access }, binding) => ({
      kind: 'storage',
      group: 0,
      binding,
      name: `b${binding}`,
      access,
      buffer,
      byteOffset: 0,
      byteLength: this.buffers[buffer]!.byteLength,
      view: region(buffer, 0, this.buffers[buffer]!.byteLength),
      reads: true,
      writes: access === 'read_write',
    }))
    if (uniformBinding !== undefined) {
      bindings.push({ kind: 'uniform', group: 0, binding: bindings.length, name: 'u', ...uniformBinding })
    }
    return this.add({ kind: 'dispatch', device, kernel, workgroups: [workgroups, 1, 1], bindings })
  }

  build(label = 'plan'): Plan {
    return {
      label,
      schedule: 'overlapped',
      buffers: this.buffers,
      kernels: this.kernels,
      commands: this.commands,
      uniformBlock: this.uniformBlock,
    }
  }
}

export async function allocateWith(
  runtime: Runtime,
  device: number,
  bytes: Uint8Array<ArrayBuffer>,
  label = 'data',
): Promise<Allocation> {
  const allocation = await runtime.allocate(device, bytes.byteLength, { label, zero: true })
  await runtime.write(contiguous(allocation), bytes)
  return allocation
}

export async function contents(runtime: Runtime, allocation: Allocation): Promise<Uint8Array<ArrayBuffer>> {
  const into = new Uint8Array(allocation.byteLength)
  await runtime.read(contiguous(allocation), into)
  return into
}

export function contiguous(allocation: Allocation, byteOffset = 0, byteLength = allocation.byteLength) {
  return { allocation, byteOffset, rowByteLength: byteLength, rows: 1, rowByteStride: byteLength }
}

/** A varied byte pattern that depends on `seed`. */
export function patternBytes(byteLength: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(byteLength)
  let state = seed * 2654435761
  for (let i = 0; i < byteLength; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    bytes[i] = state >>> 24
  }
  return bytes
}
