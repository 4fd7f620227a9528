import { compileReference, type ReferenceKernel } from '@tandem-gpu/wgsl/reference'
import type { Adapter } from '../adapter.ts'
import type { AllocationOptions, AllocationRegion, LiveHandles, LostInfo, Runtime } from '../backend.ts'
import { GpuError } from '../errors.ts'
import type { ExecutionOptions, ExecutionResult } from '../execution.ts'
import type { HostAllocation } from '../handles.ts'
import type { KernelSource } from '../kernel-source.ts'
import type { Extent, Plan, PlanPart } from '../plan.ts'
import type { Ranks } from '../ranks.ts'
import { copyRows, type PlanMemory } from './reference-command.ts'
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
  readonly ranks?: Ranks | undefined
}

/** What unzeroed memory holds: far from any plausible value in every type. */
const poison = 0xfb
export class ReferenceRuntime implements Runtime<ReferenceHandles> {
  readonly devices: readonly Adapter[]
  readonly lost: Promise<LostInfo>
  readonly ranks?: Ranks
  readonly #options: ReferenceRuntimeOptions
  readonly #allocations = new Set<ReferenceAllocation>()
  readonly #hostAllocations = new Set<HostAllocation>()
  readonly #kernels = new Set<ReferenceKernelHandle>()
  readonly #executables = new Set<ReferenceExecutable>()
  #resolveLost: (info: LostInfo) => void = () => {}
  #tail: Promise<unknown> = Promise.resolve()

  constructor(devices: readonly Adapter[], options: ReferenceRuntimeOptions) {
    this.devices = devices
    this.#options = options
    if (options.ranks !== undefined) this.ranks = options.ranks
    this.lost = new Promise((resolve) => {
      this.#resolveLost = resolve
    })
  }

  lose(message: string): void {
    this.#resolveLost({ reason: 'unknown', message })
  }

  canAccessPeer(reader: number, owner: number): boolean {
    return reader === owner || this.#options.canAccessPeer(reader, owner)
  }

  async allocate(
    device: number,
    byteLength: number,
    { label, zero }: AllocationOptions,
  ): Promise<ReferenceAllocation> {
    const used = [...this.#allocations].reduce((sum, a) => sum + (a.device === device ? a.byteLength : 0), 0)
    const free = this.#options.memoryByteLength - used
    if (byteLength > free)
      throw new GpuError(
        'out-of-memory',
        `Buffer "${label}" asks for ${byteLength} bytes; device ${device} has ${free} free.`,
      )
    const allocation = { device, byteLength, bytes: new Uint8Array(byteLength) }
    if (!zero) allocation.bytes.fill(poison)
    this.#allocations.add(allocation)
    return allocation
  }

  free(allocation: ReferenceAllocation): void {
    remove(this.#allocations, allocation, 'allocation')
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

  async instantiate(plan: Plan<ReferenceHandles, PlanPart>): Promise<ReferenceExecutable> {
    const executable = { label: plan.label, plan }
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
    for (const live of [this.#allocations, this.#hostAllocations, this.#kernels, this.#executables])
      live.clear()
    return []
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
      `Kernel "${label}" reaches ${variable}[${index}], which has ${length} elements.`,
    )
  }
}

function dense({ rows, rowByteLength }: Extent) {
  return { byteOffset: 0, rows, rowByteLength, rowByteStride: rowByteLength }
}

function remove<T>(live: Set<T>, item: T, what: string): void {
  if (!live.delete(item)) throw new TypeError(`the ${what} is not live`)
}
