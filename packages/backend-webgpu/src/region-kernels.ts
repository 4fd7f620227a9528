import { bindingOffsetAlignment, bufferUsage, computeStage } from './constants.ts'
import type { PhysicalDevice } from './physical-device.ts'
import wgsl from './region-kernels.wgsl.ts'
import type { KernelStep, UnitByteLength } from './region-lowering.ts'

/**
 * Workgroup widths. A kernel uses the narrowest that covers a row, or else the widest. Each width has its own
 * pipeline, with 64 invocations per workgroup.
 */
const widths = [1, 8, 64] as const
const workgroupSize = 64

type EntryPoint = 'copy_words' | 'copy_units' | 'fill_words' | 'fill_units'

interface RegionPipeline {
  readonly pipeline: GPUComputePipeline
  readonly layout: GPUBindGroupLayout
}

/** One kernel step ready to encode. */
export interface RegionDispatch {
  readonly pipeline: GPUComputePipeline
  readonly bindGroup: GPUBindGroup
  readonly workgroups: readonly [x: number, y: number, z: number]
}

/** The region kernels of one device, each compiled at its first use. */
export class RegionKernels {
  readonly #physical: PhysicalDevice
  readonly #pipelines = new Map<string, Promise<RegionPipeline>>()
  #module: GPUShaderModule | undefined

  constructor(physical: PhysicalDevice) {
    this.#physical = physical
  }

  /**
   * Prepares `steps`, each with its own source and target buffer. Their parameters are constants in one
   * uniform buffer, which the caller destroys.
   */
  async prepare(
    steps: readonly { step: KernelStep; source: GPUBuffer | undefined; target: GPUBuffer }[],
  ): Promise<{ dispatches: RegionDispatch[]; parameters: GPUBuffer | undefined }> {
    if (steps.length === 0) return { dispatches: [], parameters: undefined }
    const pipelines = await Promise.all(
      steps.map(({ step }) => this.#pipeline(entryPointOf(step), widthOf(step), step.unitByteLength)),
    )
    const slots = new Uint32Array((steps.length * bindingOffsetAlignment) / 4)
    steps.forEach(({ step }, i) => {
      slots.set(parametersOf(step), (i * bindingOffsetAlignment) / 4)
    })
    const { gpu } = this.#physical
    const maxWorkgroups = gpu.limits.maxComputeWorkgroupsPerDimension
    const { value, checked } = this.#physical.scoped('prepare copies', () => {
      const parameters = gpu.createBuffer({
        label: 'region parameters',
        size: slots.byteLength,
        usage: bufferUsage.uniform | bufferUsage.copyTarget,
      })
      gpu.queue.writeBuffer(parameters, 0, slots)
      const dispatches = steps.map(({ step, source, target }, i): RegionDispatch => {
        const { pipeline, layout } = pipelines[i]!
        const width = widthOf(step)
        const entries: GPUBindGroupEntry[] = [
          { binding: 1, resource: binding(target, step.target) },
          {
            binding: 2,
            resource: {
              buffer: parameters,
              offset: i * bindingOffsetAlignment,
              size: bindingOffsetAlignment,
            },
          },
        ]
        if (step.source !== undefined && source !== undefined) {
          entries.push({ binding: 0, resource: binding(source, step.source) })
        }
        return {
          pipeline,
          bindGroup: gpu.createBindGroup({ layout, entries }),
          workgroups: [
            Math.min(Math.ceil(step.itemsPerRow / width), maxWorkgroups),
            Math.min(Math.ceil(step.rows / (workgroupSize / width)), maxWorkgroups),
            1,
          ],
        }
      })
      return { dispatches, parameters }
    })
    await checked
    return value
  }

  #pipeline(entryPoint: EntryPoint, width: number, unit: UnitByteLength): Promise<RegionPipeline> {
    const key = `${entryPoint} ${width} ${unit}`
    let pipeline = this.#pipelines.get(key)
    if (pipeline === undefined) {
      pipeline = this.#compile(entryPoint, width, unit)
      this.#pipelines.set(key, pipeline)
    }
    return pipeline
  }

  async #compile(entryPoint: EntryPoint, width: number, unit: UnitByteLength): Promise<RegionPipeline> {
    const { gpu } = this.#physical
    this.#module ??= gpu.createShaderModule({ label: 'region kernels', code: wgsl })
    const entry = (index: number, type: GPUBufferBindingType): GPUBindGroupLayoutEntry => ({
      binding: index,
      visibility: computeStage,
      buffer: { type },
    })
    const layout = gpu.createBindGroupLayout({
      label: entryPoint,
      entries: [
        ...(entryPoint.startsWith('copy') ? [entry(0, 'read-only-storage')] : []),
        entry(1, 'storage'),
        entry(2, 'uniform'),
      ],
    })
    const pipeline = await this.#physical.orLost(
      gpu.createComputePipelineAsync({
        label: entryPoint,
        layout: gpu.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: {
          module: this.#module,
          entryPoint,
          constants: { width, height: workgroupSize / width, ...(unit < 4 && { unit_bits: 8 * unit }) },
        },
      }),
    )
    return { pipeline, layout }
  }
}

function binding(buffer: GPUBuffer, range: { byteOffset: number; byteLength: number }): GPUBufferBinding {
  return { buffer, offset: range.byteOffset, size: range.byteLength }
}

function entryPointOf(step: KernelStep): EntryPoint {
  const unit = step.unitByteLength === 4 ? 'words' : 'units'
  return step.kind === 'copy-kernel' ? `copy_${unit}` : `fill_${unit}`
}

function widthOf(step: KernelStep): number {
  return widths.find((width) => width >= step.itemsPerRow) ?? workgroupSize
}

function parametersOf(step: KernelStep): number[] {
  const { rows, itemsPerRow, sourceBase, sourceColumns, sourceStride } = step
  const { targetBase, targetColumns, targetStride, pattern } = step
  return [
    rows,
    itemsPerRow,
    sourceBase,
    sourceColumns,
    sourceStride,
    targetBase,
    targetColumns,
    targetStride,
    pattern,
  ]
}
