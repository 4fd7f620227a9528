import { bindingOffsetAlignment, bufferUsage, computeStage } from './constants.ts'
import type { PhysicalDevice } from './physical-device.ts'
import type { KernelStep } from './region-lowering.ts'

const workgroupSize = 64

/**
 * Copies and fills of strided regions. Word kernels have one invocation a word. Half kernels have one a word of the target too: it
 * gathers the 16-bit values that fall into its word and keeps the rest, so no two invocations write the same word.
 */
const wgsl = /* wgsl */ `
struct Region {
  items: u32, items_per_row: u32,
  source_base: u32, source_columns: u32, source_stride: u32,
  target_base: u32, target_columns: u32, target_stride: u32,
  pattern: u32,
}
@group(0) @binding(0) var<storage, read> words_from: array<u32>;
@group(0) @binding(1) var<storage, read_write> words_to: array<u32>;
@group(0) @binding(2) var<uniform> region: Region;

fn source_index(element: u32) -> u32 {
  return region.source_base + (element / region.source_columns) * region.source_stride + element % region.source_columns;
}

@compute @workgroup_size(${workgroupSize})
fn copy_words(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var i = id.x; i < region.items; i += groups.x * ${workgroupSize}u) {
    let row = i / region.items_per_row;
    let column = i % region.items_per_row;
    words_to[region.target_base + row * region.target_stride + column] = words_from[source_index(i)];
  }
}

@compute @workgroup_size(${workgroupSize})
fn fill_words(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var i = id.x; i < region.items; i += groups.x * ${workgroupSize}u) {
    let row = i / region.items_per_row;
    let column = i % region.items_per_row;
    words_to[region.target_base + row * region.target_stride + column] = region.pattern;
  }
}

@compute @workgroup_size(${workgroupSize})
fn copy_halves(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var i = id.x; i < region.items; i += groups.x * ${workgroupSize}u) {
    let row = i / region.items_per_row;
    let start = region.target_base + row * region.target_stride;
    let word = start / 2u + i % region.items_per_row;
    var mask = 0u;
    var bits = 0u;
    for (var half = 0u; half < 2u; half++) {
      let column = word * 2u + half - start;
      if (column < region.target_columns) {
        let index = source_index(row * region.target_columns + column);
        let value = (words_from[index / 2u] >> ((index & 1u) * 16u)) & 0xffffu;
        bits |= value << (half * 16u);
        mask |= 0xffffu << (half * 16u);
      }
    }
    if (mask != 0u) {
      words_to[word] = (words_to[word] & ~mask) | bits;
    }
  }
}

@compute @workgroup_size(${workgroupSize})
fn fill_halves(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var i = id.x; i < region.items; i += groups.x * ${workgroupSize}u) {
    let row = i / region.items_per_row;
    let start = region.target_base + row * region.target_stride;
    let word = start / 2u + i % region.items_per_row;
    var mask = 0u;
    for (var half = 0u; half < 2u; half++) {
      if (word * 2u + half - start < region.target_columns) {
        mask |= 0xffffu << (half * 16u);
      }
    }
    if (mask != 0u) {
      words_to[word] = (words_to[word] & ~mask) | (region.pattern & mask);
    }
  }
}
`

type EntryPoint = 'copy_words' | 'copy_halves' | 'fill_words' | 'fill_halves'

interface RegionPipeline {
  readonly pipeline: GPUComputePipeline
  readonly layout: GPUBindGroupLayout
}

/** One kernel step ready to encode. */
export interface RegionDispatch {
  readonly pipeline: GPUComputePipeline
  readonly bindGroup: GPUBindGroup
  readonly workgroups: number
}

/** The region kernels of one device, each compiled at its first use. */
export class RegionKernels {
  readonly #physical: PhysicalDevice
  readonly #pipelines = new Map<EntryPoint, Promise<RegionPipeline>>()
  #module: GPUShaderModule | undefined

  constructor(physical: PhysicalDevice) {
    this.#physical = physical
  }

  /**
   * Prepares `steps` of one source and one target buffer each. Their parameters are constants in one uniform buffer, which the
   * caller destroys.
   */
  async prepare(
    steps: readonly { step: KernelStep; source: GPUBuffer | undefined; target: GPUBuffer }[],
  ): Promise<{ dispatches: RegionDispatch[]; parameters: GPUBuffer | undefined }> {
    if (steps.length === 0) return { dispatches: [], parameters: undefined }
    const pipelines = await Promise.all(steps.map(({ step }) => this.#pipeline(entryPointOf(step))))
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
          workgroups: Math.min(Math.ceil(step.items / workgroupSize), maxWorkgroups),
        }
      })
      return { dispatches, parameters }
    })
    await checked
    return value
  }

  #pipeline(entryPoint: EntryPoint): Promise<RegionPipeline> {
    let pipeline = this.#pipelines.get(entryPoint)
    if (pipeline === undefined) {
      pipeline = this.#compile(entryPoint)
      this.#pipelines.set(entryPoint, pipeline)
    }
    return pipeline
  }

  async #compile(entryPoint: EntryPoint): Promise<RegionPipeline> {
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
        compute: { module: this.#module, entryPoint },
      }),
    )
    return { pipeline, layout }
  }
}

function binding(buffer: GPUBuffer, range: { byteOffset: number; byteLength: number }): GPUBufferBinding {
  return { buffer, offset: range.byteOffset, size: range.byteLength }
}

function entryPointOf(step: KernelStep): EntryPoint {
  const unit = step.unitByteLength === 4 ? 'words' : 'halves'
  return step.kind === 'copy-kernel' ? `copy_${unit}` : `fill_${unit}`
}

function parametersOf(step: KernelStep): number[] {
  const { items, itemsPerRow, sourceBase, sourceColumns, sourceStride } = step
  const { targetBase, targetColumns, targetStride, pattern } = step
  return [
    items,
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
