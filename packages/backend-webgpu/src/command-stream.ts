import type { GpuStep } from './gpu-step.ts'
import { Pacing } from './pacing.ts'
import type { PhysicalDevice } from './physical-device.ts'
import type { ReadbackRing } from './readback-ring.ts'
import type { Timestamps } from './timestamps.ts'
import { type DownloadChunk, packed, type UploadChunk, unpack } from './transfer.ts'

const maxSubmissionsInFlight = 2
/** Limit on the staging memory for the uploads of one submission. */
const maxUploadByteLength = 32 * 1024 * 1024

/**
 * Encodes commands for one device in order and submits them in command buffers of bounded length, at most two
 * in flight, so memory use does not grow with the length of a run. Consecutive dispatches share a compute
 * pass.
 */
export class CommandStream {
  readonly physical: PhysicalDevice
  readonly #ring: ReadbackRing
  readonly #pacing: Pacing
  readonly #action: string
  readonly #inFlight: Promise<void>[] = []
  readonly #checks: Promise<void>[] = []
  readonly #downloads = new Map<ArrayBuffer, Promise<void>>()
  #failure: { error: unknown } | undefined
  #encoder: GPUCommandEncoder | undefined
  #pass: GPUComputePassEncoder | undefined
  #pipeline: GPUComputePipeline | undefined
  #commands = 0
  #commandsSinceFlush = 0
  #uploadByteLengthSinceFlush = 0
  #lastCompletion = 0

  /** `action` completes the sentence "The device failed to ...". */
  constructor(physical: PhysicalDevice, ring: ReadbackRing, action: string, pacing = new Pacing()) {
    this.physical = physical
    this.#ring = ring
    this.#action = action
    this.#pacing = pacing
  }

  /** True when `flush` is due. */
  get full(): boolean {
    return (
      this.#commandsSinceFlush + this.#commands >= this.#pacing.commandsPerSubmission ||
      this.#uploadByteLengthSinceFlush >= maxUploadByteLength
    )
  }

  /** The encoder between passes. */
  get encoder(): GPUCommandEncoder {
    this.#endPass()
    this.#encoder ??= this.physical.gpu.createCommandEncoder({ label: this.#action })
    return this.#encoder
  }

  encode(step: GpuStep): void {
    this.#commands++
    if (step.kind === 'dispatch') {
      this.#pass ??= this.encoder.beginComputePass()
      this.#dispatch(this.#pass, step)
    } else if (step.kind === 'copy') {
      const { source, sourceOffset, target, targetOffset, byteLength } = step
      this.encoder.copyBufferToBuffer(source.gpu, sourceOffset, target.gpu, targetOffset, byteLength)
    } else {
      this.encoder.clearBuffer(step.target.gpu, step.targetOffset, step.byteLength)
    }
  }

  /** Encodes `steps` and returns the indices of the times when they begin and end. */
  encodeTimed(steps: readonly GpuStep[], timestamps: Timestamps): { begin: number; end: number } {
    const [only] = steps
    if (steps.length === 1 && only?.kind === 'dispatch') {
      const { writes, begin, end } = timestamps.aroundPass()
      const pass = this.encoder.beginComputePass({ timestampWrites: writes })
      this.#dispatch(pass, only)
      pass.end()
      this.#pipeline = undefined
      this.#commands++
      return { begin, end }
    }
    const begin = timestamps.mark(this.encoder)
    for (const step of steps) this.encode(step)
    return { begin, end: timestamps.mark(this.encoder) }
  }

  /** Reads host memory immediately, after waiting for downloads of this stream into the same memory. */
  async upload(chunk: UploadChunk): Promise<void> {
    await this.downloaded(chunk.host.arrayBuffer)
    this.submit()
    const bytes = packed(chunk.host)
    const { checked } = this.physical.scoped(this.#action, () => {
      this.physical.gpu.queue.writeBuffer(chunk.target.gpu, chunk.targetOffset, bytes)
    })
    this.watch(checked)
    this.#uploadByteLengthSinceFlush += bytes.byteLength
    for (const step of chunk.steps) this.encode(step)
    if (this.full) await this.flush()
  }

  /** Waits for downloads of this stream into `memory`. */
  async downloaded(memory: ArrayBuffer): Promise<void> {
    if (!this.#downloads.has(memory)) return
    this.submit()
    await this.#downloads.get(memory)
  }

  /** Submits immediately. Host memory is written when the device has finished; `finished` waits for that. */
  async download(chunk: DownloadChunk): Promise<void> {
    const { copies, host, skip, stagingByteLength, steps } = chunk
    for (const step of steps) this.encode(step)
    await this.readBack(
      stagingByteLength,
      (encoder, staging) => {
        for (const { source, sourceOffset, stagingOffset, byteLength } of copies) {
          encoder.copyBufferToBuffer(source.gpu, sourceOffset, staging, stagingOffset, byteLength)
        }
      },
      (bytes) => unpack(skip === 0 ? bytes : bytes.subarray(skip), host),
      host.arrayBuffer,
    )
  }

  /**
   * Lets `fill` encode copies into staging memory, submits, and passes its bytes to `use` when they are
   * there.
   */
  async readBack(
    byteLength: number,
    fill: (encoder: GPUCommandEncoder, staging: GPUBuffer) => void,
    use: (bytes: Uint8Array) => void,
    writes?: ArrayBuffer,
  ): Promise<void> {
    // Submit the work that holds staging memory before waiting for more of it.
    this.submit()
    const staging = await this.#ring.acquire(byteLength)
    fill(this.encoder, staging)
    this.#commands++
    this.submit()
    const done = this.#ring.consume(staging, byteLength, use)
    this.watch(done)
    if (writes !== undefined) this.#downloads.set(writes, done)
  }

  /** Submits the encoded commands. */
  submit(): void {
    if (this.#encoder === undefined) return
    const encoder = this.encoder
    this.#encoder = undefined
    const commands = this.#commands
    this.#commandsSinceFlush += commands
    this.#commands = 0
    const { checked } = this.physical.scoped(this.#action, () => {
      this.physical.gpu.queue.submit([encoder.finish()])
    })
    this.watch(checked)
    const submitted = performance.now()
    const completed = this.physical.completed().then(() => {
      const now = performance.now()
      this.#pacing.learn(commands, (now - Math.max(submitted, this.#lastCompletion)) / 1000)
      this.#lastCompletion = now
    })
    completed.catch(() => undefined)
    this.#inFlight.push(completed)
  }

  /**
   * Submits, and waits until at most one other command buffer is in flight. Rejects with the first error so
   * far.
   */
  async flush(): Promise<void> {
    this.submit()
    this.#commandsSinceFlush = 0
    this.#uploadByteLengthSinceFlush = 0
    while (this.#inFlight.length > maxSubmissionsInFlight - 1) await this.#inFlight.shift()
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /**
   * Waits until everything submitted has completed and host memory is written. Rejects with the first error.
   */
  async finished(): Promise<void> {
    this.submit()
    await Promise.all(this.#inFlight.splice(0))
    await Promise.all(this.#checks.splice(0))
    if (this.#failure !== undefined) throw this.#failure.error
  }

  #dispatch(pass: GPUComputePassEncoder, step: Extract<GpuStep, { kind: 'dispatch' }>): void {
    if (this.#pipeline !== step.pipeline) {
      pass.setPipeline(step.pipeline)
      this.#pipeline = step.pipeline
    }
    step.bindGroups.forEach((bindGroup, group) => {
      pass.setBindGroup(group, bindGroup)
    })
    pass.dispatchWorkgroups(...step.workgroups)
  }

  #endPass(): void {
    this.#pass?.end()
    this.#pass = undefined
    this.#pipeline = undefined
  }

  /**
   * Records the first failure and makes `finished` wait for `check`. Settled checks are dropped, so the list
   * stays short in a long run.
   */
  watch(check: Promise<void>): void {
    const watched = check.catch((error: unknown) => {
      this.#failure ??= { error }
    })
    this.#checks.push(watched)
    if (this.#checks.length > 64) {
      const older = this.#checks.splice(0, 63)
      this.#checks.unshift(Promise.all(older).then(() => undefined))
    }
  }
}
