import {
  type Adapter,
  type AdapterReport,
  type Backend,
  GpuError,
  type LiveHandles,
  type LostInfo,
  type Plan,
  portableLimits,
} from '@tandem-gpu/core'
import type {
  Allocation,
  AllocationOptions,
  AllocationRegion,
  Executable,
  ExecutionOptions,
  ExecutionResult,
  Extent,
  Handles,
  HostAllocation,
  KernelHandle,
  KernelSource,
  PlanCommand,
  PlanDispatch,
  PlanFill,
  Runtime,
} from '@tandem-gpu/core/backend'
import { compileReference, type ReferenceKernel } from '@tandem-gpu/wgsl/reference'

/** What this backend adds to the objects that core keeps for it. */
interface CpuHandles extends Handles {
  readonly allocation: Allocation & { readonly bytes: Uint8Array<ArrayBuffer> }
  readonly hostAllocation: HostAllocation
  readonly kernel: KernelHandle & { readonly compiled: ReferenceKernel }
  readonly executable: Executable & { readonly plan: Plan<CpuHandles> }
}

const memoryByteLength = 2 ** 30

/** One device, which is the CPU. */
const adapter: Adapter = {
  backend: 'cpu',
  id: 'cpu-0',
  name: 'JavaScript',
  vendor: 'example',
  software: true,
  memoryByteLength,
  limits: { ...portableLimits, maxBufferByteLength: memoryByteLength },
  features: new Set(['shader-f16', 'subgroups']),
  subgroupMinSize: 32,
  subgroupMaxSize: 32,
}

/** A backend that runs kernels in JavaScript. */
export function cpu(): Backend<Runtime> {
  return {
    name: 'cpu',
    adapters: async (): Promise<AdapterReport> => ({ adapters: [adapter] }),
    open: async (adapters) => new CpuRuntime(adapters),
  }
}

class CpuRuntime implements Runtime<CpuHandles> {
  readonly devices: readonly Adapter[]
  readonly lost: Promise<LostInfo>
  #resolveLost: (info: LostInfo) => void = () => {}
  readonly #allocations = new Set<CpuHandles['allocation']>()
  readonly #hostAllocations = new Set<HostAllocation>()
  readonly #kernels = new Set<CpuHandles['kernel']>()
  readonly #executables = new Set<CpuHandles['executable']>()
  /** Settles when everything that was called so far is done. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(devices: readonly Adapter[]) {
    this.devices = devices
    this.lost = new Promise((resolve) => {
      this.#resolveLost = resolve
    })
  }

  canAccessPeer(): boolean {
    return true
  }

  async allocate(device: number, byteLength: number, { label, zero }: AllocationOptions) {
    const used = [...this.#allocations].reduce(
      (sum, one) => (one.device === device ? sum + one.byteLength : sum),
      0,
    )
    if (used + byteLength > memoryByteLength)
      throw new GpuError(
        'out-of-memory',
        `Buffer "${label}" asks for ${byteLength} bytes; device ${device} has ${memoryByteLength - used} free.`,
      )
    const bytes = new Uint8Array(byteLength)
    // A program that relies on zeros without asking for them fails.
    if (!zero) bytes.fill(0xfb)
    const allocation = { device, byteLength, bytes }
    this.#allocations.add(allocation)
    return allocation
  }

  free(allocation: CpuHandles['allocation']): void {
    this.#allocations.delete(allocation)
  }

  allocateHost(byteLength: number): HostAllocation {
    const allocation = { arrayBuffer: new ArrayBuffer(byteLength) }
    this.#hostAllocations.add(allocation)
    return allocation
  }

  freeHost(allocation: HostAllocation): void {
    this.#hostAllocations.delete(allocation)
    const { arrayBuffer } = allocation
    // The user may have transferred it already.
    if (arrayBuffer.byteLength > 0) structuredClone(arrayBuffer, { transfer: [arrayBuffer] })
  }

  async compile({ label, module }: KernelSource) {
    const kernel = { label, compiled: compileReference(module) }
    this.#kernels.add(kernel)
    return kernel
  }

  releaseKernel(kernel: CpuHandles['kernel']): void {
    this.#kernels.delete(kernel)
  }

  async instantiate(plan: Plan<CpuHandles>) {
    const executable = { label: plan.label, plan }
    this.#executables.add(executable)
    return executable
  }

  release(executable: CpuHandles['executable']): void {
    this.#executables.delete(executable)
  }

  run({ plan }: CpuHandles['executable'], options: ExecutionOptions): Promise<ExecutionResult> {
    return this.#inOrder(async () => {
      const { times, signal, uniformBlock = plan.uniformBlock } = options
      const memory = plan.buffers.map((buffer) =>
        buffer.kind === 'device' ? buffer.allocation.bytes : new Uint8Array(buffer.allocation.arrayBuffer),
      )
      const start = performance.now()
      for (let repetition = 0; repetition < times; repetition++) {
        // Lets timers and events have a turn, such as the one that aborts.
        await new Promise((resolve) => setTimeout(resolve, 0))
        if (signal?.aborted)
          throw new GpuError('aborted', `The run is aborted after ${repetition} of ${times} repetitions.`, {
            cause: signal.reason,
          })
        for (const command of plan.commands) execute(plan, command, memory, uniformBlock)
      }
      return { seconds: (performance.now() - start) / 1000, clock: 'host' }
    })
  }

  write(region: AllocationRegion<CpuHandles['allocation']>, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#inOrder(async () => copyRows(bytes, dense(region), region.allocation.bytes, region))
  }

  read(region: AllocationRegion<CpuHandles['allocation']>, into: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#inOrder(async () => copyRows(region.allocation.bytes, region, into, dense(region)))
  }

  live(): LiveHandles {
    return {
      allocations: this.#allocations.size,
      hostAllocations: this.#hostAllocations.size,
      kernels: this.#kernels.size,
      executables: this.#executables.size,
    }
  }

  async dispose(): Promise<readonly string[]> {
    await this.#last
    for (const live of [this.#allocations, this.#hostAllocations, this.#kernels, this.#executables])
      live.clear()
    this.#resolveLost({ reason: 'destroyed', message: 'the devices are closed' })
    return []
  }

  /** Work takes effect in the order of the calls, even after work that fails. */
  #inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }
}

function execute(
  plan: Plan<CpuHandles>,
  command: PlanCommand,
  memory: readonly Uint8Array<ArrayBuffer>[],
  uniformBlock: Uint8Array<ArrayBuffer>,
): void {
  if (command.kind === 'dispatch') dispatch(plan, command, memory, uniformBlock)
  else if (command.kind === 'fill') fillRows(memory[command.target.buffer]!, command)
  else
    copyRows(memory[command.source.buffer]!, command.source, memory[command.target.buffer]!, command.target)
}

function dispatch(
  plan: Plan<CpuHandles>,
  { kernel, workgroups, bindings }: PlanDispatch,
  memory: readonly Uint8Array<ArrayBuffer>[],
  uniformBlock: Uint8Array<ArrayBuffer>,
): void {
  const bound = new Map(
    bindings.map((one) => {
      const bytes = one.kind === 'uniform' ? uniformBlock : memory[one.buffer]!
      return [
        `${one.group}.${one.binding}`,
        bytes.subarray(one.byteOffset, one.byteOffset + one.byteLength),
      ] as const
    }),
  )
  plan.kernels[kernel]!.compiled.run({ workgroups, bindings: bound })
}

function fillRows(bytes: Uint8Array<ArrayBuffer>, { target, pattern, patternByteLength }: PlanFill): void {
  const Words = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[patternByteLength]
  const words = new Words(bytes.buffer, 0, Math.floor(bytes.byteLength / patternByteLength))
  for (let row = 0; row < target.rows; row++) {
    const start = (target.byteOffset + row * target.rowByteStride) / patternByteLength
    words.fill(pattern, start, start + target.rowByteLength / patternByteLength)
  }
}

/** Both extents have as many rows, of the same length. */
function copyRows(source: Uint8Array, from: Extent, target: Uint8Array, to: Extent): void {
  for (let row = 0; row < from.rows; row++) {
    const start = from.byteOffset + row * from.rowByteStride
    target.set(source.subarray(start, start + from.rowByteLength), to.byteOffset + row * to.rowByteStride)
  }
}

/** The host's side of a transfer has its rows one after another. */
function dense({ rows, rowByteLength }: Extent): Extent {
  return { byteOffset: 0, rows, rowByteLength, rowByteStride: rowByteLength }
}
