import { compileReference, type ReferenceKernel } from '@tandem-gpu/wgsl/reference'
import type { Adapter } from '../adapter.ts'
import type { AllocationOptions, AllocationRegion, LiveHandles, LostInfo, Runtime } from '../backend.ts'
import { GpuError } from '../errors.ts'
import { abortedError, type ExecutionOptions, type ExecutionResult, type Span } from '../execution.ts'
import type { HostAllocation } from '../handles.ts'
import type { KernelSource } from '../kernel-source.ts'
import type { Extent, Plan } from '../plan.ts'
import { seededRandom } from './random.ts'
import { RandomOrder } from './random-order.ts'
import { copyRows, executeCommand, type PlanMemory } from './reference-command.ts'
import type {
  ReferenceAllocation,
  ReferenceExecutable,
  ReferenceHandles,
  ReferenceKernelHandle,
} from './reference-handles.ts'

export interface ReferenceRuntimeOptions {
  readonly peerAccess: boolean
  readonly memoryByteLength: number
  /** Called once a run: what to run in which order. */
  readonly beginRun: (plan: Plan<ReferenceHandles>) => BegunRun
}

export interface BegunRun {
  readonly plan: Plan<ReferenceHandles>
  readonly seed: number
}

/** What unzeroed memory holds: far from any plausible value in every type. */
const poison = 0xfb
/** Kernels hold the thread at most about this long before pending events get a turn. */
const sliceMilliseconds = 20

export class ReferenceRuntime implements Runtime<ReferenceHandles> {
  readonly devices: readonly Adapter[]
  readonly lost: Promise<LostInfo>
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
    this.lost = new Promise((resolve) => {
      this.#resolveLost = resolve
    })
  }

  lose(message: string): void {
    this.#resolveLost({ reason: 'unknown', message })
  }

  canAccessPeer(reader: number, owner: number): boolean {
    return reader === owner || this.#options.peerAccess
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

  async instantiate(plan: Plan<ReferenceHandles>): Promise<ReferenceExecutable> {
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

  async dispose(): Promise<void> {
    await this.#tail
    this.#resolveLost({ reason: 'destroyed', message: 'the runtime is disposed' })
    for (const live of [this.#allocations, this.#hostAllocations, this.#kernels, this.#executables])
      live.clear()
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

  async #execute(recorded: Plan<ReferenceHandles>, options: ExecutionOptions): Promise<ExecutionResult> {
    const { times, signal, profile = false, uniformBlock = recorded.uniformBlock } = options
    const { plan, seed } = this.#options.beginRun(recorded)
    const memory: PlanMemory = {
      plan,
      uniformBlock,
      buffers: plan.buffers.map((buffer) =>
        buffer.kind === 'device'
          ? this.#bytes(buffer.allocation)
          : new Uint8Array(buffer.allocation.arrayBuffer),
      ),
    }
    const spans: Span[] = []
    const start = performance.now()
    let sliceEnd = start + sliceMilliseconds
    const order = new RandomOrder(plan, times, seededRandom(seed))
    for (let next = order.take(); next !== undefined; next = order.take()) {
      const command = plan.commands[next.command]!
      const began = performance.now()
      executeCommand(memory, command)
      if (profile && next.repetition === times - 1)
        spans.push({
          command: next.command,
          repetition: next.repetition,
          device: command.device,
          startSeconds: (began - start) / 1000,
          endSeconds: (performance.now() - start) / 1000,
        })
      if (performance.now() > sliceEnd) {
        await new Promise((resolve) => setTimeout(resolve, 0))
        sliceEnd = performance.now() + sliceMilliseconds
      }
      if (signal?.aborted) order.stop()
    }
    if (signal?.aborted && order.completed < times) throw abortedError(signal, order.completed, times)
    const seconds = (performance.now() - start) / 1000
    return { seconds, clock: 'host', ...(profile && { spans }) }
  }
}

function referenceKernel(source: KernelSource): ReferenceKernel {
  try {
    return compileReference(source.module)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new GpuError('unsupported', `Kernel "${source.label}": ${error.message}.`, { cause: error })
  }
}

function dense({ rows, rowByteLength }: Extent) {
  return { byteOffset: 0, rows, rowByteLength, rowByteStride: rowByteLength }
}

function remove<T>(live: Set<T>, item: T, what: string): void {
  if (!live.delete(item)) throw new TypeError(`the ${what} is not live`)
}
