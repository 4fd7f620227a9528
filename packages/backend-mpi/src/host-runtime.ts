import { type Adapter, GpuError, type LiveHandles, type LostInfo, type Plan } from '@tandem-gpu/core'
import type {
  Executable,
  ExecutionOptions,
  ExecutionResult,
  Handles,
  HostAllocation,
  KernelHandle,
  KernelSource,
  PlanCommand,
  Runtime,
} from '@tandem-gpu/core/backend'

interface HostExecutable extends Executable {
  readonly plan: Plan<HostHandles>
}

interface HostHandles extends Handles {
  readonly executable: HostExecutable
}

/**
 * The runtime of a rank without devices. It runs copies within host memory, has no device memory, and does
 * not compile kernels.
 */
export class HostRuntime implements Runtime<HostHandles> {
  readonly devices: readonly Adapter[] = []
  readonly lost: Promise<LostInfo>
  #resolveLost!: (info: LostInfo) => void
  readonly #hostAllocations = new Set<HostAllocation>()
  readonly #kernels = new Set<KernelHandle>()
  readonly #executables = new Set<Executable>()

  constructor() {
    this.lost = new Promise((resolve) => {
      this.#resolveLost = resolve
    })
  }

  canAccessPeer(): boolean {
    return false
  }

  async allocate(): Promise<never> {
    throw noDevice()
  }

  free(): void {}

  allocateHost(byteLength: number): HostAllocation {
    const allocation = { arrayBuffer: new ArrayBuffer(byteLength) }
    this.#hostAllocations.add(allocation)
    return allocation
  }

  freeHost(allocation: HostAllocation): void {
    this.#hostAllocations.delete(allocation)
    structuredClone(allocation.arrayBuffer, { transfer: [allocation.arrayBuffer] })
  }

  async compile({ label }: KernelSource): Promise<KernelHandle> {
    const kernel = { label }
    this.#kernels.add(kernel)
    return kernel
  }

  releaseKernel(kernel: KernelHandle): void {
    this.#kernels.delete(kernel)
  }

  async instantiate(plan: Plan<HostHandles>): Promise<HostExecutable> {
    const executable = { label: plan.label, plan, stoppable: true }
    this.#executables.add(executable)
    return executable
  }

  release(executable: Executable): void {
    this.#executables.delete(executable)
  }

  async run({ plan }: HostExecutable, { times }: ExecutionOptions): Promise<ExecutionResult> {
    const start = performance.now()
    for (let repetition = 0; repetition < times; repetition++)
      for (const command of plan.commands) copyOnHost(plan, command)
    return { seconds: (performance.now() - start) / 1000, clock: 'host' }
  }

  async write(): Promise<never> {
    throw noDevice()
  }

  async read(): Promise<never> {
    throw noDevice()
  }

  live(): LiveHandles {
    return {
      allocations: 0,
      hostAllocations: this.#hostAllocations.size,
      kernels: this.#kernels.size,
      executables: this.#executables.size,
    }
  }

  async dispose(): Promise<readonly string[]> {
    this.#resolveLost({ reason: 'destroyed', message: 'The runtime has been disposed.' })
    return []
  }
}

function copyOnHost(plan: Plan<HostHandles>, command: PlanCommand): void {
  if (command.kind === 'dispatch' || command.kind === 'fill') throw noDevice()
  const { source, target } = command
  const [from, to] = [source, target].map(({ buffer }) => plan.buffers[buffer]!)
  if (from?.kind !== 'host' || to?.kind !== 'host') throw noDevice()
  const input = new Uint8Array(from.allocation.arrayBuffer)
  const output = new Uint8Array(to.allocation.arrayBuffer)
  for (let row = 0; row < source.rows; row++) {
    const start = source.byteOffset + row * source.rowByteStride
    output.set(
      input.subarray(start, start + source.rowByteLength),
      target.byteOffset + row * target.rowByteStride,
    )
  }
}

function noDevice(): GpuError {
  return new GpuError('validation', 'This rank has no device.')
}
