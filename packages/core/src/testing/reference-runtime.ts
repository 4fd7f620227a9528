import { compileReference, type ReferenceKernel } from '@tandem-gpu/wgsl/reference'
import type { Adapter } from '../backend/adapter.ts'
import type { CommandQueue, CommandQueueOptions } from '../backend/command-queue.ts'
import type { ExecutionOptions, ExecutionResult } from '../backend/execution.ts'
import type { HostAllocation } from '../backend/handles.ts'
import type { KernelSource } from '../backend/kernel-source.ts'
import type {
  AllocationOptions,
  AllocationRegion,
  LiveHandles,
  LostInfo,
  Runtime,
} from '../backend/runtime.ts'
import { GpuError } from '../errors.ts'
import type { Extent, Plan, PlanCommand, PlanPart } from '../plan/plan.ts'
import { copyRows, type PlanMemory } from './reference-command.ts'
import { type QueueHost, ReferenceCommandQueue } from './reference-command-queue.ts'
import type {
  ReferenceAllocation,
  ReferenceExecutable,
  ReferenceHandles,
  ReferenceKernelHandle,
} from './reference-handles.ts'

export interface ReferenceRuntimeOptions {
  /** May kernels of the first device, by ordinal, use memory of the second? */
  readonly canAccessPeer: (reader: number, owner: number) => boolean
  /** Of each device. */
  readonly memoryByteLength: number
  /** Runs a plan on the memory that it names. */
  readonly execute: (memory: PlanMemory, options: ExecutionOptions) => Promise<ExecutionResult>
}

/** What unzeroed memory holds: far from any plausible value in every type. */
const poison = 0xfb
export class ReferenceRuntime<C extends PlanPart = PlanCommand> implements Runtime<ReferenceHandles, C> {
  readonly devices: readonly Adapter[]
  readonly lost: Promise<LostInfo>
  readonly #options: ReferenceRuntimeOptions
  readonly #allocations = new Set<ReferenceAllocation>()
  /** Memory of command queues. */
  readonly #queueMemory = new Set<ReferenceAllocation>()
  /** By device. */
  readonly #usedByteLength: number[]
  readonly #hostAllocations = new Set<HostAllocation>()
  readonly #kernels = new Set<ReferenceKernelHandle>()
  readonly #executables = new Set<ReferenceExecutable>()
  #resolveLost: (info: LostInfo) => void = () => {}
  #tail: Promise<unknown> = Promise.resolve()

  constructor(devices: readonly Adapter[], options: ReferenceRuntimeOptions) {
    this.devices = devices
    this.#options = options
    this.#usedByteLength = devices.map(() => 0)
    this.lost = new Promise((resolve) => {
      this.#resolveLost = resolve
    })
  }

  lose(message: string): void {
    this.#resolveLost({ reason: 'unknown', message })
  }

  /** Kernels run on this thread: none is under way when somebody calls this. */
  abandon(): void {
    this.lose('Work that runs on the devices does not end.')
  }

  canAccessPeer(reader: number, owner: number): boolean {
    return reader === owner || this.#options.canAccessPeer(reader, owner)
  }

  async allocate(
    device: number,
    byteLength: number,
    { label, zero }: AllocationOptions,
  ): Promise<ReferenceAllocation> {
    const free = this.#freeByteLength(device)
    if (byteLength > free)
      throw new GpuError(
        'out-of-memory',
        `Buffer "${label}" asks for ${byteLength} bytes; device ${device} has ${free} free.`,
      )
    const allocation = { device, byteLength, bytes: new Uint8Array(byteLength) }
    if (!zero) allocation.bytes.fill(poison)
    this.#allocations.add(allocation)
    this.#usedByteLength[device]! += byteLength
    return allocation
  }

  free(allocation: ReferenceAllocation): void {
    if (!this.#allocations.has(allocation)) throw new TypeError('the allocation is not live')
    this.#letGo(allocation, { from: this.#allocations, other: this.#queueMemory })
  }

  allocateHost(byteLength: number): HostAllocation {
    const allocation = { arrayBuffer: new ArrayBuffer(byteLength) }
    this.#hostAllocations.add(allocation)
    return allocation
  }

  freeHost(allocation: HostAllocation): void {
    remove(this.#hostAllocations, allocation, 'host allocation')
    // The caller may have transferred it.
    if (allocation.arrayBuffer.byteLength > 0)
      structuredClone(allocation.arrayBuffer, { transfer: [allocation.arrayBuffer] })
  }

  async compile(source: KernelSource): Promise<ReferenceKernelHandle> {
    const handle = { label: source.label, source, kernel: referenceKernel(source) }
    this.#kernels.add(handle)
    return handle
  }

  releaseKernel(kernel: ReferenceKernelHandle): void {
    remove(this.#kernels, kernel, 'kernel')
  }

  async instantiate(plan: Plan<ReferenceHandles, C>): Promise<ReferenceExecutable> {
    const executable = { label: plan.label, plan, stoppable: true }
    this.#executables.add(executable)
    return executable
  }

  release(executable: ReferenceExecutable): void {
    remove(this.#executables, executable, 'executable')
  }

  run(executable: ReferenceExecutable, options: ExecutionOptions): Promise<ExecutionResult> {
    if (!this.#executables.has(executable)) throw new TypeError(`"${executable.label}" is not live`)
    return this.#inOrder(() => this.#execute(executable.plan, options))
  }

  openCommandQueue(device: number, options: CommandQueueOptions): CommandQueue<ReferenceHandles> {
    const host: QueueHost = {
      inOrder: (work) => this.#inOrder(work),
      compile: referenceKernel,
      take: (byteLength) => {
        if (byteLength > this.#freeByteLength(device)) return undefined
        const allocation = { device, byteLength, bytes: new Uint8Array(byteLength) }
        this.#queueMemory.add(allocation)
        this.#usedByteLength[device]! += byteLength
        return allocation
      },
      giveBack: (allocation) =>
        this.#letGo(allocation, { from: this.#queueMemory, other: this.#allocations }),
      share: (allocation) => this.#allocations.add(allocation),
      bytes: (allocation) => this.#bytes(allocation),
    }
    const queue = new ReferenceCommandQueue(host, options)
    void this.lost.then(({ message }) => queue.lose(new GpuError('device-lost', message)))
    return queue
  }

  write(region: AllocationRegion<ReferenceAllocation>, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#inOrder(async () => copyRows(bytes, dense(region), this.#bytes(region.allocation), region))
  }

  read(region: AllocationRegion<ReferenceAllocation>, into: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#inOrder(async () => copyRows(this.#bytes(region.allocation), region, into, dense(region)))
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
    await this.#tail
    this.#resolveLost({ reason: 'destroyed', message: 'the runtime is disposed' })
    for (const live of [
      this.#allocations,
      this.#queueMemory,
      this.#hostAllocations,
      this.#kernels,
      this.#executables,
    ])
      live.clear()
    return []
  }

  #freeByteLength(device: number): number {
    return this.#options.memoryByteLength - this.#usedByteLength[device]!
  }

  /** Memory that a command queue shares is used until both let it go. */
  #letGo(
    allocation: ReferenceAllocation,
    { from, other }: Record<'from' | 'other', Set<ReferenceAllocation>>,
  ) {
    if (from.delete(allocation) && !other.has(allocation))
      this.#usedByteLength[allocation.device]! -= allocation.byteLength
  }

  #inOrder<R>(work: () => Promise<R>): Promise<R> {
    const done = this.#tail.then(work)
    this.#tail = done.catch(() => {})
    return done
  }

  #bytes(allocation: ReferenceAllocation): Uint8Array<ArrayBuffer> {
    if (!this.#allocations.has(allocation)) throw new TypeError('memory is used after it was freed')
    return allocation.bytes
  }

  async #execute(
    plan: Plan<ReferenceHandles, PlanPart>,
    options: ExecutionOptions,
  ): Promise<ExecutionResult> {
    const buffers = plan.buffers.map((buffer) =>
      buffer.kind === 'device'
        ? this.#bytes(buffer.allocation)
        : new Uint8Array(buffer.allocation.arrayBuffer),
    )
    const { uniformBlock = plan.uniformBlock } = options
    return this.#options.execute({ plan, uniformBlock, buffers }, options)
  }
}

function referenceKernel(source: KernelSource): ReferenceKernel {
  try {
    return compileReference(source.module, source.bounds === 'trap' ? { onOutside: outside(source) } : {})
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new GpuError('unsupported', `Kernel "${source.label}": ${error.message}.`, { cause: error })
  }
}

function outside({ label }: KernelSource) {
  return (variable: string, index: number, length: number): never => {
    throw new GpuError(
      'validation',
      `Kernel "${label}" reaches ${variable}[${index}], but ${variable} has ${length} elements.`,
    )
  }
}

function dense({ rows, rowByteLength }: Extent) {
  return { byteOffset: 0, rows, rowByteLength, rowByteStride: rowByteLength }
}

function remove<T>(live: Set<T>, item: T, what: string): void {
  if (!live.delete(item)) throw new TypeError(`the ${what} is not live`)
}
