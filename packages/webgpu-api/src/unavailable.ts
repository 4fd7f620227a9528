import { ApiObject, type ObjectState } from './api-object.ts'
import type { DeviceState } from './device-state.ts'
import { creation, nameInterface } from './interfaces.ts'
import { labelOf, toDictionary } from './webidl.ts'

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
  const object = new type(creation, { device, valid: false }, labelOf(descriptor))
  if (object instanceof GPUTexture) devices.set(object, device)
  return object
}

export function unavailable(method: string): string {
  return `${method}: this implementation of WebGPU computes on buffers; it does not support textures, samplers or rendering.`
}
