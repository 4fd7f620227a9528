import type { DeviceLimits } from './adapter.ts'
import type { BufferView, Device } from './device.ts'
import { elementByteLength } from './element-type.ts'
import { GpuError } from './errors.ts'
import type { Kernel } from './kernel.ts'
import type { DispatchArgument, Recorder } from './recorder.ts'
import { requireCount } from './view.ts'

/** A view that is cut with the work: block b has the elements from `b · blockLength` on, the last block perhaps fewer. */
export interface BlockedView {
  readonly view: BufferView
  /** Elements of one block. */
  readonly blockLength: number
}

export interface DispatchBlocksOptions {
  /** Default: the device of the first view in `blocked` that the kernel writes. */
  readonly device?: Device | number | undefined
  /** How many blocks of work there are. */
  readonly blocks: number
  /** How many of them a workgroup does. Default 1. */
  readonly blocksPerWorkgroup?: number | undefined
  /** Contiguous views that are cut with the work, by the names of their bindings. */
  readonly blocked: Readonly<Record<string, BlockedView>>
  /** What every dispatch gets as it is. */
  readonly args?: Readonly<Record<string, DispatchArgument>> | undefined
  readonly label?: string | undefined
}

/**
 * Bytes that a view may span to fit one binding of `device`, wherever it begins: a binding starts at a multiple of 256 bytes, so up to 256
 * bytes of the limit may lie before the view. At most 8 GiB, which 32-bit indices of elements reach.
 */
export function bindableByteLength({ limits }: { readonly limits: DeviceLimits }): number {
  return Math.min(limits.maxStorageBindingByteLength, 2 ** 33) - 256
}

/**
 * Workgroups in x and y for a kernel that counts them in one dimension: [count, 1], or a grid that is hardly larger than `count` where one
 * dimension does not hold so many. The kernel takes `workgroup_id.x + workgroup_id.y * num_workgroups.x` as its index and ignores those
 * from `count` on.
 */
export function foldWorkgroups(
  count: number,
  { limits }: { readonly limits: DeviceLimits },
): readonly [x: number, y: number] {
  const rows = Math.max(1, Math.ceil(count / limits.maxWorkgroupsPerDimension))
  return [Math.ceil(count / rows), rows]
}

/** Cuts [0, count) into consecutive ranges of `most` each, of which the last may be shorter. */
export function* ranges(count: number, most: number): Generator<{ first: number; count: number }> {
  for (let first = 0; first < count; first += most) yield { first, count: Math.min(most, count - first) }
}

/**
 * Records a kernel over consecutive blocks of work, in as many dispatches as the device's limits on bindings and on workgroups demand, which is
 * nearly always one. Each dispatch is a launch of its own: the kernel gets the parts of the views and computes on them as if they were all, and
 * takes `workgroup_id.x + workgroup_id.y * num_workgroups.x` as its index (see `foldWorkgroups`). Throws `too-large` where one block exceeds
 * what the device can bind.
 */
export function dispatchBlocks(recorder: Recorder, kernel: Kernel, options: DispatchBlocksOptions): void {
  const { blocks, blocksPerWorkgroup = 1, blocked, args = {} } = options
  const label = options.label ?? kernel.label
  requireCount(blocks, `The number of blocks of "${label}"`)
  requireCount(blocksPerWorkgroup, `The number of blocks of a workgroup of "${label}"`, 1)
  const device = deviceOf(recorder, kernel, options)
  const bindable = bindableByteLength(device)
  const grid = device.limits.maxWorkgroupsPerDimension
  let most = Math.min(grid ** 2, Number.MAX_SAFE_INTEGER / blocksPerWorkgroup) * blocksPerWorkgroup
  for (const [name, { view, blockLength }] of Object.entries(blocked)) {
    requireCount(blockLength, `The block length of ${name} of "${label}"`, 1)
    const blockByteLength = blockLength * elementByteLength[view.buffer.type]
    const fitting = Math.floor(bindable / blockByteLength)
    if (fitting < 1)
      throw new GpuError(
        'too-large',
        `A block of ${blockByteLength} bytes of ${name} of "${label}" exceeds the ${bindable} bytes that device ${device.ordinal} can bind.`,
      )
    most = Math.min(most, fitting)
  }
  // Whole workgroups, unless not even one has room.
  if (most > blocksPerWorkgroup) most -= most % blocksPerWorkgroup
  for (const { first, count } of ranges(blocks, most)) {
    const parts = Object.entries(blocked).map(([name, { view, blockLength }]) => {
      const start = Math.min(view.length, first * blockLength)
      return [name, view.slice(start, Math.min(count * blockLength, view.length - start))] as const
    })
    recorder.dispatch(kernel, {
      device: device.ordinal,
      workgroups: foldWorkgroups(Math.ceil(count / blocksPerWorkgroup), device),
      args: { ...args, ...Object.fromEntries(parts) },
      label,
    })
  }
}

/** With the limits that the recorder's devices have. */
function deviceOf(recorder: Recorder, kernel: Kernel, { device, blocked }: DispatchBlocksOptions): Device {
  if (device !== undefined) return recorder.devices[typeof device === 'number' ? device : device.ordinal]!
  const written = kernel.reflection.bindings.find(({ name, writes }) => writes && blocked[name] !== undefined)
  const view = (written && blocked[written.name]) ?? Object.values(blocked)[0]
  if (view === undefined)
    throw new GpuError(
      'validation',
      `The dispatch of "${kernel.label}" cuts no view; say on which \`device\` it runs.`,
    )
  return recorder.devices[view.view.buffer.device.ordinal]!
}
