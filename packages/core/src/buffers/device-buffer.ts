import type { Allocation } from '../backend/handles.ts'
import type { Device, DeviceBuffer } from '../group/device.ts'
import type { GroupState } from '../group/group-state.ts'
import type { ElementType } from './element-type.ts'
import { OwnedBuffer } from './owned-buffer.ts'
import type { Region } from './view.ts'

/**
 * A device buffer as core implements it: made by `Device.allocate`, which registers it with the group, or by
 * `Recorder.scratch` for one program.
 */
export class OwnedDeviceBuffer<T extends ElementType = ElementType>
  extends OwnedBuffer<T>
  implements DeviceBuffer<T>
{
  readonly device: Device
  /** True if a recorder made it, so that it belongs to one program. */
  readonly isScratch: boolean
  /** Absent for length 0, for memory of another rank, and for scratch whose program is not prepared. */
  allocation: Allocation | undefined

  constructor(
    group: GroupState,
    device: Device,
    type: T,
    region: Region,
    label: string,
    allocation: Allocation | undefined,
    isScratch: boolean,
  ) {
    super(group, isScratch ? undefined : group.resources, 'buffer', device.rank, type, region, label)
    this.device = device
    this.allocation = allocation
    this.isScratch = isScratch
  }

  protected override free(): void {
    if (this.allocation !== undefined && !this.group.runtimeEnded) this.group.runtime.free(this.allocation)
    this.allocation = undefined
  }
}
