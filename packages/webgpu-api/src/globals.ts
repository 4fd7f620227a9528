import { GPUAdapter } from './adapter.ts'
import { GPUAdapterInfo } from './adapter-info.ts'
import { GPUBindGroup } from './bind-group.ts'
import { GPUBindGroupLayout } from './bind-group-layout.ts'
import { GPUBuffer } from './buffer.ts'
import { GPUCommandBuffer } from './command-buffer.ts'
import { GPUCommandEncoder } from './command-encoder.ts'
import { GPUCompilationInfo, GPUCompilationMessage } from './compilation-info.ts'
import { GPUComputePassEncoder } from './compute-pass.ts'
import { GPUComputePipeline } from './compute-pipeline.ts'
import { GPUBufferUsage, GPUColorWrite, GPUMapMode, GPUShaderStage, GPUTextureUsage } from './constants.ts'
import { GPUDevice, GPUDeviceLostInfo } from './device.ts'
import {
  GPUError,
  GPUInternalError,
  GPUOutOfMemoryError,
  GPUPipelineError,
  GPUUncapturedErrorEvent,
  GPUValidationError,
} from './errors.ts'
import { GPUSupportedFeatures, WGSLLanguageFeatures } from './features.ts'
import { GPU } from './gpu.ts'
import { GPUSupportedLimits } from './limits.ts'
import { GPUPipelineLayout } from './pipeline-layout.ts'
import { GPUQuerySet } from './query-set.ts'
import { GPUQueue } from './queue.ts'
import { GPURenderPassEncoder } from './render-pass.ts'
import { GPUShaderModule } from './shader-module.ts'
import {
  GPUExternalTexture,
  GPURenderBundle,
  GPURenderBundleEncoder,
  GPURenderPipeline,
  GPUSampler,
  GPUTexture,
  GPUTextureView,
} from './unavailable.ts'

/** The values that the API defines in the global scope, by name. */
export const globals: Readonly<Record<string, unknown>> = {
  GPU,
  GPUAdapter,
  GPUAdapterInfo,
  GPUBindGroup,
  GPUBindGroupLayout,
  GPUBuffer,
  GPUBufferUsage,
  GPUColorWrite,
  GPUCommandBuffer,
  GPUCommandEncoder,
  GPUCompilationInfo,
  GPUCompilationMessage,
  GPUComputePassEncoder,
  GPUComputePipeline,
  GPUDevice,
  GPUDeviceLostInfo,
  GPUError,
  GPUExternalTexture,
  GPUInternalError,
  GPUMapMode,
  GPUOutOfMemoryError,
  GPUPipelineError,
  GPUPipelineLayout,
  GPUQuerySet,
  GPUQueue,
  GPURenderBundle,
  GPURenderBundleEncoder,
  GPURenderPassEncoder,
  GPURenderPipeline,
  GPUSampler,
  GPUShaderModule,
  GPUShaderStage,
  GPUSupportedFeatures,
  GPUSupportedLimits,
  GPUTexture,
  GPUTextureUsage,
  GPUTextureView,
  GPUUncapturedErrorEvent,
  GPUValidationError,
  WGSLLanguageFeatures,
}
