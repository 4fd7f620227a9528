import { ApiObject, type ObjectState } from './api-object.ts'
import type { DeviceState } from './device-state.ts'
import { creation, nameInterface } from './interfaces.ts'
import { type Dictionary, labelOf, toDictionary, toSequence, toText } from './webidl.ts'

/*
 * Unsupported parts of the API: textures, samplers and rendering. Creating such an object is a validation
 * error and returns an invalid object, so that a library that probes for support can continue.
 */

/** An object without memory or attributes. */
abstract class UnavailableObject extends ApiObject {}

export class GPUSampler extends UnavailableObject {}
export class GPUExternalTexture extends UnavailableObject {}
export class GPUTextureView extends UnavailableObject {}
export class GPURenderPipeline extends UnavailableObject {}
export class GPURenderBundle extends UnavailableObject {}
export class GPURenderBundleEncoder extends UnavailableObject {}

export class GPUTexture extends UnavailableObject {
  createView(descriptor?: unknown): GPUTextureView {
    return new GPUTextureView(
      creation,
      stateFor(this),
      labelOf(toDictionary(descriptor, 'The descriptor of createView')),
    )
  }

  destroy(): undefined {
    return undefined
  }
}

for (const type of [
  GPUSampler,
  GPUExternalTexture,
  GPUTextureView,
  GPURenderPipeline,
  GPURenderBundle,
  GPURenderBundleEncoder,
  GPUTexture,
])
  nameInterface(type)

const devices = new WeakMap<GPUTexture, DeviceState>()

function stateFor(texture: GPUTexture): ObjectState {
  return { device: devices.get(texture)!, valid: false }
}

type UnavailableType<O> = new (token: unknown, state: ObjectState, label: string) => O

/**
 * Reports the validation error of a method that creates an unsupported object, and returns the invalid
 * object.
 */
export function createUnavailable<O extends UnavailableObject>(
  device: DeviceState,
  type: UnavailableType<O>,
  method: string,
  given: unknown,
): O {
  const descriptor = toDictionary(given, `The descriptor of ${method}`)
  device.invalid(unavailable(method))
  return invalid(device, type, descriptor)
}

function invalid<O extends UnavailableObject>(
  device: DeviceState,
  type: UnavailableType<O>,
  descriptor: Dictionary,
): O {
  const object = new type(creation, { device, valid: false }, labelOf(descriptor))
  if (object instanceof GPUTexture) devices.set(object, device)
  return object
}

/**
 * Creates an invalid texture. One that is larger than the device's largest buffer is reported as out of
 * memory, as on a device that supports textures, for programs that test how they handle this.
 */
export function createTexture(device: DeviceState, given: unknown): GPUTexture {
  const descriptor = toDictionary(given, 'The descriptor of createTexture')
  const byteLength = textureByteLength(descriptor)
  if (byteLength <= device.limits.maxBufferSize)
    return createUnavailable(device, GPUTexture, 'createTexture', descriptor)
  const text = `createTexture: the texture needs ${byteLength} bytes, and the device has no room for them.`
  device.report('out-of-memory', text)
  return invalid(device, GPUTexture, descriptor)
}

/** 0 if the size or the format is missing; 1 byte per texel of compressed and packed formats. */
function textureByteLength({ size, format, sampleCount = 1 }: Dictionary): number {
  if (size === undefined || format === undefined) return 0
  const extent = toDictionary(size, 'size')
  const [width, height = 1, layers = 1] =
    Symbol.iterator in extent
      ? toSequence(size, Number, 'size')
      : [extent.width, extent.height, extent.depthOrArrayLayers].map((n) => (n === undefined ? n : Number(n)))
  const [, channels = 'r', bits = '8'] = /^(r|rg|rgba|bgra)(8|16|32)/.exec(toText(format)) ?? []
  return Number(width) * height * layers * Number(sampleCount) * channels.length * (Number(bits) / 8)
}

export function unavailable(method: string): string {
  return `${method}: this implementation of WebGPU computes on buffers; it does not support textures, samplers or rendering.`
}
