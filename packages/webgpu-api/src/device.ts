import type { GPUAdapterInfo } from './adapter-info.ts'
import { createBindGroup, type GPUBindGroup } from './bind-group.ts'
import { createBindGroupLayout, type GPUBindGroupLayout } from './bind-group-layout.ts'
import { createBuffer, type GPUBuffer } from './buffer.ts'
import { createCommandEncoder, type GPUCommandEncoder } from './command-encoder.ts'
import {
  createComputePipeline,
  createComputePipelineAsync,
  type GPUComputePipeline,
} from './compute-pipeline.ts'
import type { DeviceState } from './device-state.ts'
import { errorFilters, type GPUError, GPUPipelineError, GPUUncapturedErrorEvent } from './errors.ts'
import { GPUSupportedFeatures } from './features.ts'
import { creation, nameInterface, requireCreation } from './interfaces.ts'
import { GPUSupportedLimits } from './limits.ts'
import { createPipelineLayout, type GPUPipelineLayout } from './pipeline-layout.ts'
import { createQuerySet, type GPUQuerySet } from './query-set.ts'
import { GPUQueue } from './queue.ts'
import { createShaderModule, type GPUShaderModule } from './shader-module.ts'
import {
  createTexture,
  createUnavailable,
  GPUExternalTexture,
  GPURenderBundleEncoder,
  GPURenderPipeline,
  GPUSampler,
  type GPUTexture,
  unavailable,
} from './unavailable.ts'
import { toDictionary, toEnum, toText } from './webidl.ts'

/** Why a device is lost. */
export class GPUDeviceLostInfo {
  readonly #reason: 'unknown' | 'destroyed'
  readonly #message: string

  constructor(token: unknown, reason: 'unknown' | 'destroyed', message: string) {
    requireCreation(token)
    this.#reason = reason
    this.#message = message
  }

  get reason(): 'unknown' | 'destroyed' {
    return this.#reason
  }

  get message(): string {
    return this.#message
  }
}
nameInterface(GPUDeviceLostInfo)

let deviceStateOf: (device: GPUDevice) => DeviceState

/** An `EventHandler`: an object that is not callable is kept, and never called. */
type UncapturedHandler = ((this: GPUDevice, event: GPUUncapturedErrorEvent) => unknown) | object

export class GPUDevice extends EventTarget {
  readonly #state: DeviceState
  readonly #features: GPUSupportedFeatures
  readonly #limits: GPUSupportedLimits
  readonly #adapterInfo: GPUAdapterInfo
  readonly #queue: GPUQueue
  readonly #lost: Promise<GPUDeviceLostInfo>
  #label: string
  #handler: UncapturedHandler | null = null
  readonly #listener = (event: Event) => {
    const handler = this.#handler
    // An event handler that returns false cancels the event, as in HTML.
    if (typeof handler === 'function' && Reflect.apply(handler, this, [event]) === false)
      event.preventDefault()
  }

  static {
    deviceStateOf = (device) => device.#state
  }

  constructor(
    token: unknown,
    state: DeviceState,
    adapterInfo: GPUAdapterInfo,
    label: string,
    queueLabel: string,
  ) {
    super()
    requireCreation(token)
    this.#state = state
    this.#features = new GPUSupportedFeatures(creation, state.features)
    this.#limits = new GPUSupportedLimits(creation, state.limits)
    this.#adapterInfo = adapterInfo
    this.#queue = new GPUQueue(creation, { device: state, valid: true }, queueLabel)
    this.#label = label
    this.#lost = state.whenLost.then(
      ({ reason, message }) => new GPUDeviceLostInfo(creation, reason, message),
    )
  }

  get label(): string {
    return this.#label
  }

  set label(label: string) {
    this.#label = toText(label)
  }

  get features(): GPUSupportedFeatures {
    return this.#features
  }

  get limits(): GPUSupportedLimits {
    return this.#limits
  }

  get adapterInfo(): GPUAdapterInfo {
    return this.#adapterInfo
  }

  get queue(): GPUQueue {
    return this.#queue
  }

  get lost(): Promise<GPUDeviceLostInfo> {
    return this.#lost
  }

  get onuncapturederror(): UncapturedHandler | null {
    return this.#handler
  }

  set onuncapturederror(handler: UncapturedHandler | null) {
    const given = typeof handler === 'object' || typeof handler === 'function' ? handler : null
    // A new handler keeps the first handler's place among the listeners.
    if (given !== null && this.#handler === null) this.addEventListener('uncapturederror', this.#listener)
    if (given === null) this.removeEventListener('uncapturederror', this.#listener)
    this.#handler = given
  }

  destroy(): undefined {
    const state = this.#state
    for (const buffer of state.mapped.values()) buffer.deref()?.unmap()
    // Other programs may read the written memory.
    state.channel.flush()
    state.lose('destroyed', 'The device was destroyed.')
    state.channel.close()
    return undefined
  }

  createBuffer(descriptor: unknown): GPUBuffer {
    return createBuffer(this.#state, descriptor)
  }

  createTexture(descriptor: unknown): GPUTexture {
    return createTexture(this.#state, descriptor)
  }

  createSampler(descriptor?: unknown): GPUSampler {
    return createUnavailable(this.#state, GPUSampler, 'createSampler', descriptor)
  }

  importExternalTexture(descriptor: unknown): GPUExternalTexture {
    return createUnavailable(this.#state, GPUExternalTexture, 'importExternalTexture', descriptor)
  }

  createBindGroupLayout(descriptor: unknown): GPUBindGroupLayout {
    return createBindGroupLayout(this.#state, descriptor)
  }

  createPipelineLayout(descriptor: unknown): GPUPipelineLayout {
    return createPipelineLayout(this.#state, descriptor)
  }

  createBindGroup(descriptor: unknown): GPUBindGroup {
    return createBindGroup(this.#state, descriptor)
  }

  createShaderModule(descriptor: unknown): GPUShaderModule {
    return createShaderModule(this.#state, descriptor)
  }

  createComputePipeline(descriptor: unknown): GPUComputePipeline {
    return createComputePipeline(this.#state, descriptor)
  }

  async createComputePipelineAsync(descriptor: unknown): Promise<GPUComputePipeline> {
    return createComputePipelineAsync(this.#state, descriptor)
  }

  createRenderPipeline(descriptor: unknown): GPURenderPipeline {
    return createUnavailable(this.#state, GPURenderPipeline, 'createRenderPipeline', descriptor)
  }

  async createRenderPipelineAsync(descriptor: unknown): Promise<GPURenderPipeline> {
    toDictionary(descriptor, 'The descriptor of createRenderPipelineAsync')
    throw new GPUPipelineError(unavailable('createRenderPipelineAsync'), { reason: 'validation' })
  }

  createCommandEncoder(descriptor?: unknown): GPUCommandEncoder {
    return createCommandEncoder(this.#state, descriptor)
  }

  createRenderBundleEncoder(descriptor: unknown): GPURenderBundleEncoder {
    return createUnavailable(this.#state, GPURenderBundleEncoder, 'createRenderBundleEncoder', descriptor)
  }

  createQuerySet(descriptor: unknown): GPUQuerySet {
    return createQuerySet(this.#state, descriptor)
  }

  pushErrorScope(filter: unknown): undefined {
    this.#state.scopes.push(toEnum(filter, errorFilters, 'filter'))
    return undefined
  }

  async popErrorScope(): Promise<GPUError | null> {
    const state = this.#state
    if (state.isLost) return null
    const scope = state.scopes.pop()
    if (scope === undefined) throw new DOMException('No error scope is open.', 'OperationError')
    const settled = state.settled()
    if (settled !== undefined) await settled
    return scope.error ?? null
  }
}
nameInterface(GPUDevice)

/** The state of a GPUDevice that the objects it creates use. */
export function stateOfDevice(device: GPUDevice): DeviceState {
  return deviceStateOf(device)
}

/** Reports an error that no scope catches to a device. The event is dispatched in its own task. */
export function dispatchUncaptured(device: GPUDevice, error: GPUError): void {
  setTimeout(() => {
    const event = new GPUUncapturedErrorEvent('uncapturederror', { error, cancelable: true })
    if (device.dispatchEvent(event) && !event.defaultPrevented)
      console.error(`Uncaptured ${error.constructor.name}: ${error.message}`)
  }, 0)
}
