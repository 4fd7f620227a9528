import { type Device, type DeviceGroup, GpuError } from '@tandem-gpu/core'
import { characterOf } from './device-character.ts'

/** How invocations that share values exchange them where that is fastest. */
export function fastestVariant(group: DeviceGroup): 'subgroups' | 'workgroup' | 'serial' {
  if (!characterOf(group).fastBarriers) return 'serial'
  return hasSubgroupsOf32(group) ? 'subgroups' : 'workgroup'
}

/** Whether the subgroups of all devices have 32 lanes, whatever the kernel. */
export function hasSubgroupsOf32({ devices }: DeviceGroup): boolean {
  return devices.every(isOf32)
}

/** Throws `unsupported` if the subgroups of a device may have a number of lanes other than 32. */
export function requireSubgroupsOf32({ devices }: DeviceGroup): void {
  const device = devices.find((candidate) => !isOf32(candidate))
  if (device === undefined) return
  const { subgroupMinSize: least, subgroupMaxSize: most } = device.info
  const found = device.features.has('subgroups') && least ? `${least} to ${most} lanes` : 'no known size'
  throw new GpuError(
    'unsupported',
    `Kernels with subgroup operations need subgroups of 32 lanes; those of device ${device.ordinal} have ${found}.`,
  )
}

function isOf32({ features, info }: Device): boolean {
  return features.has('subgroups') && info.subgroupMinSize === 32 && info.subgroupMaxSize === 32
}
