import type { DeviceLimits } from '@tandem-gpu/core'
import { nameInterface, requireCreation } from './interfaces.ts'

/**
 * The limits of the specification, with their defaults. Higher is better for `maximum` limits, lower for
 * `alignment` limits.
 */
const limitTable = {
  maxTextureDimension1D: 8192,
  maxTextureDimension2D: 8192,
  maxTextureDimension3D: 2048,
  maxTextureArrayLayers: 256,
  maxBindGroups: 4,
  maxBindGroupsPlusVertexBuffers: 24,
  maxBindingsPerBindGroup: 1000,
  maxDynamicUniformBuffersPerPipelineLayout: 8,
  maxDynamicStorageBuffersPerPipelineLayout: 4,
  maxSampledTexturesPerShaderStage: 16,
  maxSamplersPerShaderStage: 16,
  maxStorageBuffersPerShaderStage: 8,
  maxStorageBuffersInVertexStage: 8,
  maxStorageBuffersInFragmentStage: 8,
  maxStorageTexturesPerShaderStage: 4,
  maxStorageTexturesInVertexStage: 4,
  maxStorageTexturesInFragmentStage: 4,
  maxUniformBuffersPerShaderStage: 12,
  maxUniformBufferBindingSize: 65_536,
  maxStorageBufferBindingSize: 134_217_728,
  minUniformBufferOffsetAlignment: 256,
  minStorageBufferOffsetAlignment: 256,
  maxVertexBuffers: 8,
  maxBufferSize: 268_435_456,
  maxVertexAttributes: 16,
  maxVertexBufferArrayStride: 2048,
  maxInterStageShaderVariables: 16,
  maxColorAttachments: 8,
  maxColorAttachmentBytesPerSample: 32,
  maxComputeWorkgroupStorageSize: 16_384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupSizeY: 256,
  maxComputeWorkgroupSizeZ: 64,
  maxComputeWorkgroupsPerDimension: 65_535,
} as const

export type LimitName = keyof typeof limitTable
export type Limits = Readonly<Record<LimitName, number>>

export const limitNames = Object.keys(limitTable) as LimitName[]
export const defaultLimits: Limits = limitTable

export function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(limitTable, name)
}

/** Whether a lower value is better. */
export const isAlignment = (name: LimitName) => name.startsWith('min')

/** `arrayLength` returns a u32, so the byte length of a binding must fit in one. */
const largestBinding = 2 ** 32 - 4
/**
 * A larger buffer is of little use, since no binding can span it, and allocating all memory at once always
 * fails.
 */
const largestBuffer = 2 ** 32
/** `maxBufferSize` is chosen so that this number of buffers fills the memory. */
const buffersInMemory = 4

/** The limits that a device of the group supports. */
export function limitsOf(device: DeviceLimits, memoryByteLength: number | undefined): Limits {
  const wholeWords = (byteLength: number) => Math.floor(byteLength / 4) * 4
  const maxBufferSize = Math.max(
    defaultLimits.maxBufferSize,
    wholeWords(
      Math.min(device.maxBufferByteLength, largestBuffer, (memoryByteLength ?? Infinity) / buffersInMemory),
    ),
  )
  const storageBuffers = device.maxStorageBuffersPerDispatch
  const [x, y, z] = device.maxWorkgroupSize
  return {
    ...defaultLimits,
    maxBufferSize,
    maxStorageBufferBindingSize: wholeWords(
      Math.min(device.maxStorageBindingByteLength, largestBinding, maxBufferSize),
    ),
    maxUniformBufferBindingSize: device.maxUniformBindingByteLength,
    minUniformBufferOffsetAlignment: device.bindingOffsetAlignment,
    minStorageBufferOffsetAlignment: device.bindingOffsetAlignment,
    maxStorageBuffersPerShaderStage: storageBuffers,
    maxStorageBuffersInVertexStage: storageBuffers,
    maxStorageBuffersInFragmentStage: storageBuffers,
    maxComputeWorkgroupStorageSize: device.maxWorkgroupMemoryByteLength,
    maxComputeInvocationsPerWorkgroup: device.maxWorkgroupInvocations,
    maxComputeWorkgroupSizeX: x,
    maxComputeWorkgroupSizeY: y,
    maxComputeWorkgroupSizeZ: z,
    maxComputeWorkgroupsPerDimension: device.maxWorkgroupsPerDimension,
  }
}

/** The limits of an adapter or a device, as its users see them. */
export class GPUSupportedLimits {
  readonly #limits: Limits

  constructor(token: unknown, limits: Limits) {
    requireCreation(token)
    this.#limits = limits
  }

  static {
    for (const name of limitNames)
      Object.defineProperty(GPUSupportedLimits.prototype, name, {
        get(this: GPUSupportedLimits) {
          return this.#limits[name]
        },
        enumerable: true,
        configurable: true,
      })
  }
}

nameInterface(GPUSupportedLimits)
