import { type Adapter, GpuError, type LiveHandles, type LostInfo, type Plan } from '@tandem-gpu/core'
import type {
  AllocationOptions,
  AllocationRegion,
  ExecutionOptions,
  ExecutionResult,
  HostAllocation,
  KernelSource,
  Runtime,
} from '@tandem-gpu/core/backend'
import { CommandStream } from './command-stream.ts'
import { Execution } from './execution.ts'
import { GpuStepBuilder } from './gpu-step.ts'
import { compileKernel, type KernelPipelines } from './kernel.ts'
import { createStorageBuffer, type DeviceAllocation, type DeviceRegion } from './padded-buffer.ts'
import type { PhysicalDevice } from './physical-device.ts'
import { type PreparedPlan, preparePlan, type WebGpuHandles } from './prepared-plan.ts'
import { ReadbackRing } from './readback-ring.ts'
import { RegionKernels } from './region-kernels.ts'
import { type HostRegion, prepareDownload, prepareUpload } from './transfer.ts'

interface Tools {
  readonly ring: ReadbackRing
  readonly regionKernels: RegionKernels
}

/** Virtual devices over one `GPUDevice` for each distinct adapter. */
export class WebGpuRuntime implements Runtime<WebGpuHandles> {
  readonly devices: readonly Adapter[]
  readonly lost: Promise<LostInfo>
  readonly #physicals: readonly PhysicalDevice[]
  readonly #distinct: readonly PhysicalDevice[]
  readonly #peerAccess: boolean
  readonly #tools: ReadonlyMap<PhysicalDevice, Tools>
  readonly #allocations = new Set<DeviceAllocation>()
  readonly #hostAllocations = new Set<HostAllocation>()
  readonly #kernels = new Set<KernelPipelines>()
  readonly #plans = new Set<PreparedPlan>()
  /** Calls whose work has not completed. */
  readonly #unfinished = new Set<Promise<unknown>>()
  /** The last call to put work on the queues; the next one waits for it. */
  #submitting: Promise<unknown> = Promise.resolve()
  #abandoned = false
  #resolveLost: (info: LostInfo) => void = () => undefined
  #disposed: Promise<readonly string[]> | undefined

  /** `physicals[i]` is the device of `devices[i]`. */
  constructor(devices: readonly Adapter[], physicals: readonly PhysicalDevice[], peerAccess: boolean) {
    this.devices = devices
    this.#physicals = physicals
    this.#distinct = [...new Set(physicals)]
    this.#peerAccess = peerAccess
    this.#tools = new Map(
      this.#distinct.map((physical) => [
        physical,
        { ring: new ReadbackRing(physical), regionKernels: new RegionKernels(physical) },
      ]),
    )
    this.lost = new Promise((resolve) => {
      this.#resolveLost = resolve
    })
    for (const physical of this.#distinct) physical.lost.then((info) => this.#resolveLost(info))
  }

  canAccessPeer(reader: number, owner: number): boolean {
    return reader === owner || (this.#peerAccess && this.#physicals[reader] === this.#physicals[owner])
  }

  async allocate(device: number, byteLength: number, options: AllocationOptions): Promise<DeviceAllocation> {
    const physical = this.#physicals[device]!
    const limit = physical.gpu.limits.maxBufferSize
    if (byteLength > limit) {
      throw new GpuError(
        'too-large',
        `Buffer "${options.label}" has ${byteLength} bytes; the device "${physical.name}" allows ${limit} in one buffer.`,
      )
    }
    // WebGPU zeroes every buffer, so `zero` changes nothing.
    const { value, checked } = physical.scoped(
      `allocate ${byteLength} bytes for "${options.label}" in addition to ${this.#allocatedByteLength()} that are already allocated`,
      () => createStorageBuffer(physical, byteLength, options.label),
    )
    await checked
    const allocation: DeviceAllocation = { ...value, device }
    this.#allocations.add(allocation)
    return allocation
  }

  free(allocation: DeviceAllocation): void {
    if (this.#allocations.delete(allocation)) allocation.gpu.destroy()
  }

  allocateHost(byteLength: number): HostAllocation {
    const allocation = { arrayBuffer: new ArrayBuffer(byteLength) }
    this.#hostAllocations.add(allocation)
    return allocation
  }

  freeHost(allocation: HostAllocation): void {
    if (this.#hostAllocations.delete(allocation)) detach(allocation.arrayBuffer)
  }

  async compile(source: KernelSource): Promise<KernelPipelines> {
    const kernel = await compileKernel(source, this.#distinct)
    this.#kernels.add(kernel)
    return kernel
  }

  releaseKernel(kernel: KernelPipelines): void {
    this.#kernels.delete(kernel)
  }

  async instantiate(plan: Plan<WebGpuHandles>): Promise<PreparedPlan> {
    const prepared = await preparePlan(plan, {
      physicals: this.#physicals,
      regionKernels: (physical) => this.#toolsOf(physical).regionKernels,
    })
    this.#plans.add(prepared)
    return prepared
  }

  release(plan: PreparedPlan): void {
    if (!this.#plans.delete(plan)) return
    for (const buffer of plan.owned) buffer.destroy()
  }

  run(plan: PreparedPlan, options: ExecutionOptions): Promise<ExecutionResult> {
    const execution = new Execution(plan, options, (physical) => this.#toolsOf(physical).ring)
    if (plan.hasTransfers) {
      // Later calls see the host memory that this one writes.
      return this.#inOrder(async () => {
        await execution.submit()
        const result = await execution.result()
        return () => Promise.resolve(result)
      })
    }
    return this.#inOrder(async () => {
      await execution.submit()
      return () => execution.result()
    })
  }

  write(region: AllocationRegion<DeviceAllocation>, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const target = deviceRegion(region)
    const { physical } = target.buffer
    return this.#inOrder(async () => {
      const builder = this.#builder(physical)
      const chunks = prepareUpload(hostRegion(region, bytes), target, builder)
      const owned = await builder.build()
      const stream = this.#stream(physical, `write ${bytes.byteLength} bytes`)
      return this.#finishing(stream, owned, async () => {
        for (const chunk of chunks) await stream.upload(chunk)
      })
    })
  }

  read(region: AllocationRegion<DeviceAllocation>, into: Uint8Array<ArrayBuffer>): Promise<void> {
    const source = deviceRegion(region)
    const { physical } = source.buffer
    return this.#inOrder(async () => {
      const builder = this.#builder(physical)
      const chunks = prepareDownload(source, hostRegion(region, into), builder)
      const owned = await builder.build()
      const stream = this.#stream(physical, `read ${into.byteLength} bytes`)
      return this.#finishing(stream, owned, async () => {
        for (const chunk of chunks) await stream.download(chunk)
      })
    })
  }

  live(): LiveHandles {
    return {
      allocations: this.#allocations.size,
      hostAllocations: this.#hostAllocations.size,
      kernels: this.#kernels.size,
      executables: this.#plans.size,
    }
  }

  /** Leaves the device open until the process exits, because destroying a Dawn device waits for its work. */
  abandon(): void {
    this.#abandoned = true
    this.#resolveLost({ reason: 'unknown', message: 'Work that runs on the devices does not end.' })
  }

  dispose(): Promise<readonly string[]> {
    this.#disposed ??= this.#dispose()
    return this.#disposed
  }

  async #dispose(): Promise<readonly string[]> {
    while (this.#unfinished.size > 0 && !this.#abandoned)
      await Promise.race([Promise.allSettled(this.#unfinished), this.lost])
    // Destroying a device or its buffers may wait for the work that never ends.
    if (this.#abandoned) return []
    for (const plan of this.#plans) this.release(plan)
    for (const allocation of this.#allocations) this.free(allocation)
    for (const allocation of this.#hostAllocations) this.freeHost(allocation)
    this.#kernels.clear()
    for (const { ring } of this.#tools.values()) ring.destroy()
    this.#resolveLost({ reason: 'destroyed', message: 'The runtime has been disposed.' })
    for (const physical of this.#distinct) physical.close()
    return []
  }

  /**
   * Runs `submit` after the calls before it have submitted, then lets later ones go ahead while the function
   * that `submit` returned waits for completion.
   */
  #inOrder<T>(submit: () => Promise<() => Promise<T>>): Promise<T> {
    const submitted = this.#submitting.then(() => submit())
    this.#submitting = submitted.catch(() => undefined)
    const call = submitted.then((complete) => complete())
    const settled = call.catch(() => undefined)
    this.#unfinished.add(settled)
    settled.then(() => this.#unfinished.delete(settled))
    return call
  }

  /** Runs `submit` on `stream`; the returned function waits for completion and destroys `owned`. */
  async #finishing(
    stream: CommandStream,
    owned: readonly GPUBuffer[],
    submit: () => Promise<void>,
  ): Promise<() => Promise<void>> {
    const destroy = () => {
      for (const buffer of owned) buffer.destroy()
    }
    try {
      await submit()
      stream.submit()
    } catch (error) {
      await stream.finished().catch(() => undefined)
      destroy()
      throw error
    }
    return () => stream.finished().finally(destroy)
  }

  #toolsOf(physical: PhysicalDevice): Tools {
    const tools = this.#tools.get(physical)
    if (tools === undefined) throw new RangeError('The device belongs to another runtime.')
    return tools
  }

  #builder(physical: PhysicalDevice): GpuStepBuilder {
    return new GpuStepBuilder(physical, this.#toolsOf(physical).regionKernels)
  }

  #stream(physical: PhysicalDevice, action: string): CommandStream {
    return new CommandStream(physical, this.#toolsOf(physical).ring, action)
  }

  #allocatedByteLength(): number {
    let total = 0
    for (const { byteLength } of this.#allocations) total += byteLength
    return total
  }
}

function deviceRegion(region: AllocationRegion<DeviceAllocation>): DeviceRegion {
  const { allocation, byteOffset, rowByteLength, rows, rowByteStride } = region
  return { buffer: allocation, byteOffset, rowByteLength, rows, rowByteStride }
}

function hostRegion(region: AllocationRegion<DeviceAllocation>, bytes: Uint8Array<ArrayBuffer>): HostRegion {
  const { rowByteLength, rows } = region
  return {
    arrayBuffer: bytes.buffer,
    byteOffset: bytes.byteOffset,
    rowByteLength,
    rows,
    rowByteStride: rowByteLength,
  }
}

/** Node 20 has no `ArrayBuffer.prototype.transfer`. */
function detach(arrayBuffer: ArrayBuffer): void {
  // The caller may have transferred the memory already.
  if (arrayBuffer.byteLength > 0) structuredClone(arrayBuffer, { transfer: [arrayBuffer] })
}
