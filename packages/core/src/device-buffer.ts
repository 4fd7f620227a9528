import type { Device } from './device.ts'
import type { ElementType } from './element-type.ts'
import type { BufferView } from './view.ts'

/** Memory of one device. Programs that use it keep the memory alive after `destroy`, until they are destroyed themselves. */
export interface DeviceBuffer<T extends ElementType = ElementType> extends BufferView<T> {
  readonly device: Device
  readonly type: T
  readonly byteLength: number
  readonly label: string
  readonly destroyed: boolean
  destroy(): void
  [Symbol.dispose](): void
}
