import type { Device } from '@tandem-gpu/core'
import { GPUAdapterInfo } from './adapter-info.ts'
import { Channel } from './channel.ts'
import { dispatchUncaptured, GPUDevice, stateOfDevice } from './device.ts'
import { DeviceState } from './device-state.ts'
import { featureNames, featuresOf, GPUSupportedFeatures } from './features.ts'
import { creation, nameInterface, requireCreation } from './interfaces.ts'
import { KernelStore } from './kernel-store.ts'
import {
  defaultLimits,
  GPUSupportedLimits,
  isAlignment,
  isLimitName,
  type LimitName,
  type Limits,
  limitsOf,
} from './limits.ts'
import {
  type Dictionary,
  labelOf,
  member,
  toDictionary,
  toEnum,
  toRecord,
  toSequence,
  toText,
  toU64,
} from './webidl.ts'

/** The largest alignment limit that a program may request. */
const largestAlignment = 2 ** 31

/** The ends of the names of limits that apply to all shader stages, or to one. */
const stageNames = ['PerShaderStage', 'InVertexStage', 'InFragmentStage'] as const

/** Closes the channel of a GPUDevice that has been garbage-collected. */
const collected = new FinalizationRegistry<Channel>((channel) => channel.close())

export class GPUAdapter {
  readonly #device: Device
  readonly #timeoutSeconds: number
  readonly #features: GPUSupportedFeatures
  readonly #ownLimits: Limits
  readonly #limits: GPUSupportedLimits
  readonly #info: GPUAdapterInfo
  /** An adapter has one device. */
  #isConsumed = false

  constructor(token: unknown, device: Device, timeoutSeconds: number) {
    requireCreation(token)
    this.#device = device
    this.#timeoutSeconds = timeoutSeconds
    this.#features = new GPUSupportedFeatures(creation, featuresOf(device.features))
    this.#ownLimits = limitsOf(device.limits, device.info.memoryByteLength)
    this.#limits = new GPUSupportedLimits(creation, this.#ownLimits)
    this.#info = new GPUAdapterInfo(creation, device.info)
  }

  get features(): GPUSupportedFeatures {
    return this.#features
  }

  get limits(): GPUSupportedLimits {
    return this.#limits
  }

  get info(): GPUAdapterInfo {
    return this.#info
  }

  async requestDevice(given?: unknown): Promise<GPUDevice> {
    const descriptor = toDictionary(given, 'The descriptor of requestDevice')
    const label = labelOf(descriptor)
    const queueLabel = labelOf(toDictionary(descriptor.defaultQueue, 'defaultQueue'))
    const features = member(descriptor, 'requiredFeatures', [], toFeatures)
    const required = member<[string, number | undefined][]>(descriptor, 'requiredLimits', [], toLimits)
    for (const feature of features)
      if (!this.#features.has(feature))
        throw new TypeError(`The adapter does not support the feature '${feature}'.`)
    if (this.#isConsumed)
      throw new DOMException(
        'The adapter has already provided its device; request another adapter.',
        'OperationError',
      )
    const limits = this.#limitsWith(required)
    const device = this.#open(new Set(['core-features-and-limits', ...features]), limits, label, queueLabel)
    // An adapter whose group has ended has expired and is not consumed: all its GPUDevices are lost.
    if (stateOfDevice(device).isLost) await device.lost
    else this.#isConsumed = true
    return device
  }

  #limitsWith(required: readonly [name: string, value: number | undefined][]): Limits {
    const limits: Record<LimitName, number> = { ...defaultLimits }
    const refuse = (message: string) => new DOMException(message, 'OperationError')
    for (const [name, value] of required) {
      if (value === undefined) continue
      if (!isLimitName(name)) throw refuse(`There is no limit '${name}'.`)
      const most = this.#ownLimits[name]
      if (isAlignment(name)) {
        const isPower = value > 0 && value <= largestAlignment && Number.isInteger(Math.log2(value))
        if (!isPower || value < most)
          throw refuse(`The limit ${name} is ${value}; it must be a power of 2 of at least ${most}.`)
        limits[name] = Math.min(limits[name], value)
      } else {
        if (value > most) throw refuse(`The limit ${name} is ${value}; the adapter supports at most ${most}.`)
        limits[name] = Math.max(limits[name], value)
      }
    }
    // Devices of this implementation always have the core features, so the limits per stage equal the general
    // ones.
    for (const what of ['Buffers', 'Textures'] as const) {
      const names = stageNames.map((stage) => `maxStorage${what}${stage}` as const)
      const largest = Math.max(...names.map((name) => limits[name]))
      for (const name of names) limits[name] = largest
    }
    return limits
  }

  #open(features: ReadonlySet<string>, limits: Limits, label: string, queueLabel: string): GPUDevice {
    const options = { label: label === '' ? 'WebGPU' : label, timeoutSeconds: this.#timeoutSeconds }
    // The channel must not keep the device from being garbage-collected.
    let reached: WeakRef<DeviceState> | undefined
    const channel = new Channel(this.#device, options, (message) => reached?.deref()?.receive(message))
    let device: GPUDevice | undefined
    const state = new DeviceState(channel, new KernelStore(channel), limits, features, (error) =>
      dispatchUncaptured(device!, error),
    )
    reached = new WeakRef(state)
    const info = new GPUAdapterInfo(creation, this.#device.info)
    device = new GPUDevice(creation, state, info, label, queueLabel)
    if (channel.refusal !== undefined) state.lose('unknown', channel.refusal.message)
    collected.register(device, channel)
    return device
  }
}
nameInterface(GPUAdapter)

function toFeatures(value: unknown): string[] {
  return toSequence(value, (item) => toEnum(item, featureNames, 'A required feature'), 'requiredFeatures')
}

function toLimits(value: unknown): [string, number | undefined][] {
  return toRecord(
    value,
    (item, name) => (item === undefined ? undefined : toU64(item, name)),
    'requiredLimits',
  )
}

/** The options of `requestAdapter`. */
export function toAdapterOptions(given: unknown): { featureLevel: string; forceFallbackAdapter: boolean } {
  const options: Dictionary = toDictionary(given, 'The options of requestAdapter')
  const featureLevel = member(options, 'featureLevel', 'core', toText)
  const forceFallbackAdapter = member(options, 'forceFallbackAdapter', false, Boolean)
  member<string | undefined>(options, 'powerPreference', undefined, (value) =>
    toEnum(value, ['low-power', 'high-performance'], 'powerPreference'),
  )
  return { featureLevel, forceFallbackAdapter }
}
