import type { DeviceRegion, PaddedBuffer } from './padded-buffer.ts'
import { createStorageBuffer } from './padded-buffer.ts'
import type { PhysicalDevice } from './physical-device.ts'
import type { RegionKernels } from './region-kernels.ts'
import {
  type BufferExtent,
  type KernelStep,
  type LoweringOptions,
  lowerCopy,
  lowerFill,
  type RegionStep,
} from './region-lowering.ts'

/** One call on a command encoder, with all objects it needs created beforehand. */
export type GpuStep =
  | {
      readonly kind: 'dispatch'
      readonly pipeline: GPUComputePipeline
      readonly bindGroups: readonly GPUBindGroup[]
      readonly workgroups: readonly [x: number, y: number, z: number]
    }
  | {
      readonly kind: 'copy'
      readonly source: PaddedBuffer
      readonly sourceOffset: number
      readonly target: PaddedBuffer
      readonly targetOffset: number
      readonly byteLength: number
    }
  | {
      readonly kind: 'clear'
      readonly target: PaddedBuffer
      readonly targetOffset: number
      readonly byteLength: number
    }

/**
 * Collects the steps of copies and fills on one device, then creates their kernels, parameters and scratch
 * memory together. All commands share one scratch buffer, since commands run in order.
 */
export class GpuStepBuilder {
  readonly #physical: PhysicalDevice
  readonly #kernels: RegionKernels
  readonly #lowering: LoweringOptions
  readonly #pending: {
    steps: GpuStep[]
    at: number
    step: KernelStep
    source: PaddedBuffer | undefined
    target: PaddedBuffer
  }[] = []
  #scratchByteLength = 0
  #scratch: GPUBuffer | undefined

  constructor(physical: PhysicalDevice, kernels: RegionKernels) {
    this.#physical = physical
    this.#kernels = kernels
    this.#lowering = {
      maxBindingByteLength: physical.gpu.limits.maxStorageBufferBindingSize,
      software: physical.software,
    }
  }

  /** `byteLength` bytes of scratch; its `gpu` exists once `build` has run. */
  scratch(byteLength: number): PaddedBuffer {
    this.#scratchByteLength = Math.max(this.#scratchByteLength, byteLength)
    const scratch = () => this.#scratch
    return {
      physical: this.#physical,
      byteLength,
      get gpu() {
        return scratch()!
      },
    }
  }

  /**
   * Appends steps that copy `source` to `target`, which has the same rows and is in another buffer. `build`
   * completes the returned array in place, so do not copy it.
   */
  copy(source: DeviceRegion, target: DeviceRegion, steps: GpuStep[] = []): readonly GpuStep[] {
    const lowered = lowerCopy(extent(source), extent(target), this.#lowering)
    return this.#materialize(lowered, source.buffer, target.buffer, steps)
  }

  fill(target: DeviceRegion, pattern: number, patternByteLength: 1 | 2 | 4): readonly GpuStep[] {
    const lowered = lowerFill(extent(target), pattern, patternByteLength, this.#lowering)
    return this.#materialize(lowered, undefined, target.buffer, [])
  }

  /**
   * Creates the objects that the returned steps need; the steps are complete when the promise resolves.
   * Resolves to the buffers to destroy together with the steps.
   */
  async build(): Promise<readonly GPUBuffer[]> {
    const owned: GPUBuffer[] = []
    if (this.#scratchByteLength > 0) {
      const action = `allocate ${this.#scratchByteLength} bytes of scratch for copies`
      const { value, checked } = this.#physical.scoped(action, () =>
        createStorageBuffer(this.#physical, this.#scratchByteLength, 'copy scratch'),
      )
      this.#scratch = value.gpu
      owned.push(value.gpu)
      await checked
    }
    const { dispatches, parameters } = await this.#kernels.prepare(
      this.#pending.map(({ step, source, target }) => ({ step, source: source?.gpu, target: target.gpu })),
    )
    if (parameters !== undefined) owned.push(parameters)
    this.#pending.forEach(({ steps, at }, i) => {
      const { pipeline, bindGroup, workgroups } = dispatches[i]!
      steps[at] = { kind: 'dispatch', pipeline, bindGroups: [bindGroup], workgroups }
    })
    return owned
  }

  #materialize(
    lowered: readonly RegionStep[],
    source: PaddedBuffer | undefined,
    target: PaddedBuffer,
    steps: GpuStep[],
  ): readonly GpuStep[] {
    for (const step of lowered) {
      if (step.kind === 'copy') {
        const { sourceOffset, targetOffset, byteLength } = step
        steps.push({ kind: 'copy', source: source!, sourceOffset, target, targetOffset, byteLength })
      } else if (step.kind === 'clear') {
        steps.push({ kind: 'clear', target, targetOffset: step.targetOffset, byteLength: step.byteLength })
      } else {
        this.#pending.push({ steps, at: steps.length, step, source, target })
        // A placeholder that `build` replaces with the dispatch.
        steps.push({ kind: 'clear', target, targetOffset: 0, byteLength: 0 })
      }
    }
    return steps
  }
}

function extent(region: DeviceRegion): BufferExtent {
  const { byteOffset, rowByteLength, rows, rowByteStride } = region
  return { byteOffset, rowByteLength, rows, rowByteStride, bufferByteLength: region.buffer.byteLength }
}
