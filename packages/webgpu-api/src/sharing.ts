import {
  type BufferView,
  type DeviceBuffer,
  describedValue,
  type ElementType,
  GpuError,
} from '@tandem-gpu/core'
import { isObject, named, stateOf } from './api-object.ts'
import { GPUBuffer as ApiBuffer, createAdoptedBuffer, onDestroy } from './buffer.ts'
import { GPUBufferUsage } from './constants.ts'
import { GPUDevice as ApiDevice, stateOfDevice } from './device.ts'

/** The view through which programs use a GPUBuffer. */
interface SharedView {
  readonly type: ElementType
  readonly view: Promise<DeviceBuffer>
  made?: DeviceBuffer
}

/**
 * Keeps each GPUBuffer reachable until it is destroyed, so that the view's memory remains when the program
 * drops the GPUBuffer.
 */
const views = new Map<ApiBuffer, SharedView>()

const mapUsages = GPUBufferUsage.MAP_READ | GPUBufferUsage.MAP_WRITE

function invalid(message: string): GpuError {
  return new GpuError('validation', message)
}

/**
 * Returns the memory of a GPUBuffer as a buffer of its device's group, for `record`, `write` and `read`,
 * without a copy. Programs that use the view keep the memory alive after `destroy`. The GPUBuffer is not
 * garbage-collected: it lives until it or its GPUDevice is destroyed. Calls to the group's queue and to the
 * GPUDevice's queue take effect in call order. All views of a buffer have the same element type. Rejects with
 * `validation` if the buffer can be mapped or its size is not a multiple of 4.
 */
export async function viewOf<T extends ElementType = 'f32'>(
  buffer: GPUBuffer,
  type: T = 'f32' as T,
): Promise<DeviceBuffer<T>> {
  const given: unknown = buffer
  if (!isObject(given, ApiBuffer))
    throw invalid(
      `The buffer of viewOf is ${describedValue(given)}; it must be a GPUBuffer of a device that comes from createGPU.`,
    )
  const { device, usage, size, destroyed, number, valid } = stateOf(given)
  if (!valid || destroyed || device.isLost)
    throw invalid(`${named(given)} is ${destroyed ? 'destroyed' : valid ? 'of a lost device' : 'invalid'}.`)
  if ((usage & mapUsages) !== 0) throw invalid(`${named(given)} can be mapped, so programs cannot use it.`)
  if (size === 0 || size % 4 !== 0)
    throw invalid(`${named(given)} has ${size} bytes; viewOf needs a multiple of 4 bytes, and at least 4.`)
  const known = views.get(given)
  if (known !== undefined && known.type !== type)
    throw invalid(
      `${named(given)} already has a view of type ${known.type}; it cannot also have one of type ${type}.`,
    )
  if (known !== undefined) return known.view as Promise<DeviceBuffer<T>>
  device.channel.flush()
  const view = device.channel.commands.share(
    number,
    type,
    size,
    given.label === '' ? 'GPUBuffer' : given.label,
  )
  const shared: SharedView = { type, view }
  views.set(given, shared)
  const end = () => {
    if (views.delete(given)) destroy(shared)
  }
  onDestroy.set(given, end)
  void device.whenLost.then(end)
  const made = await view.catch((error: unknown) => {
    views.delete(given)
    throw error
  })
  shared.made = made
  return made
}

/** Destroys the view immediately if it exists already. */
function destroy(shared: SharedView): void {
  if (shared.made !== undefined) shared.made.destroy()
  else
    void shared.view.then(
      (buffer) => buffer.destroy(),
      () => {},
    )
}

/** Options of `bufferOf`. */
export interface BufferOfOptions {
  readonly label?: string | undefined
  /** Default STORAGE, COPY_SRC, COPY_DST, UNIFORM and INDIRECT. */
  readonly usage?: number | undefined
}

const { STORAGE, COPY_SRC, COPY_DST, UNIFORM, INDIRECT } = GPUBufferUsage
const defaultUsage = STORAGE | COPY_SRC | COPY_DST | UNIFORM | INDIRECT

/**
 * Creates a GPUBuffer over memory of the group, without a copy. `view` must be a contiguous view of a buffer
 * on the GPUDevice's own device, start at a multiple of 256 bytes, and have a byte length that is a multiple
 * of 4. The memory remains allocated until the GPUBuffer is destroyed or collected. Throws `validation`.
 */
export function bufferOf(device: GPUDevice, view: BufferView, options: BufferOfOptions = {}): GPUBuffer {
  const given: unknown = device
  if (!(given instanceof ApiDevice))
    throw invalid(
      `The device of bufferOf is ${describedValue(given)}; it must be a GPUDevice that comes from createGPU.`,
    )
  const { label = '', usage = defaultUsage } = options
  if ((usage & ~defaultUsage) !== 0 || usage === 0)
    throw invalid(
      `The usage of bufferOf is 0x${usage.toString(16)}; it must be a combination of STORAGE, COPY_SRC, COPY_DST, UNIFORM and INDIRECT.`,
    )
  const state = stateOfDevice(given)
  if (state.isLost) throw new GpuError('device-lost', 'The GPUDevice of bufferOf was lost.')
  const number = state.channel.number()
  const range = state.channel.commands.adopt(number, view)
  return createAdoptedBuffer(state, number, range, usage, label) as unknown as GPUBuffer
}
