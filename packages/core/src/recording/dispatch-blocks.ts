import type { DeviceLimits } from '../backend/adapter.ts'
import { OwnedDeviceBuffer } from '../buffers/device-buffer.ts'
import { type ElementType, elementByteLength } from '../buffers/element-type.ts'
import { bufferOf, notAView } from '../buffers/owned-buffer.ts'
import { requireCount } from '../buffers/view.ts'
import { describedValue, isObject } from '../described-value.ts'
import { GpuError, invalid } from '../errors.ts'
import type { BufferView, Device } from '../group/device.ts'
import { deviceOf, type GroupDevice } from '../group/group-device.ts'
import { type Kernel, requireKernel } from '../kernels/kernel.ts'
import { requireOptions } from '../options.ts'
import type { ArgumentsOf, Recorder } from './recorder.ts'

/**
 * A view that is divided along with the work: block b starts at element `b · blockLength`; the last block may
 * have fewer elements.
 */
export class BlockedView<T extends ElementType = ElementType> {
  readonly view: BufferView<T>
  /** Elements of one block. */
  readonly blockLength: number

  constructor(view: BufferView<T>, blockLength: number) {
    this.view = view
    this.blockLength = blockLength
  }
}

/**
 * Tells `dispatchBlocks` that each block of work has `blockLength` elements of `view`, which must be
 * contiguous.
 */
export function blocked<T extends ElementType>(view: BufferView<T>, blockLength: number): BlockedView<T> {
  return new BlockedView(view, blockLength)
}

/** The arguments: those that each part of the work receives unchanged, and those that are divided with it. */
export type BlockedArguments<A = unknown> = {
  readonly [K in keyof ArgumentsOf<A>]:
    | ArgumentsOf<A>[K]
    | (BufferView extends ArgumentsOf<A>[K]
        ? BlockedView
        : ArgumentsOf<A>[K] extends BufferView<infer T>
          ? BlockedView<T>
          : never)
}

/** Options of `dispatchBlocks`. */
export interface DispatchBlocksOptions<A = unknown> {
  /** Default: the device of the first blocked view that the kernel writes. */
  readonly device?: Device | number | undefined
  /** The number of blocks of work. */
  readonly blocks: number
  /** Blocks per workgroup. Default 1. */
  readonly blocksPerWorkgroup?: number | undefined
  /**
   * By name, as in `Recorder.dispatch`; views that are divided with the work are `blocked(view,
   * blockLength)`.
   */
  readonly args: BlockedArguments<A>
  readonly label?: string | undefined
}

/**
 * The number of bytes that a view may span to fit in one binding of `device`, wherever it starts: a binding
 * starts at a multiple of 256 bytes, so up to 256 bytes of the limit may be before the view. At most 8 GiB,
 * the range of 32-bit element indices.
 */
export function bindableByteLength(device: { readonly limits: DeviceLimits }): number {
  const limits = limitsOf(device)
  return Math.min(limits.maxStorageBindingByteLength, 2 ** 33) - 256
}

/**
 * The number of rows of `view` that fit in one binding of `device`, wherever they start; at least 1, which
 * recording rejects if it does not fit.
 */
export function bindableRows(
  device: { readonly limits: DeviceLimits },
  view: Pick<BufferView, 'stride' | 'buffer'>,
): number {
  requireDeviceView(view, 'What bindableRows takes')
  const { stride, buffer } = view
  return Math.max(1, Math.floor(bindableByteLength(device) / (stride * elementByteLength[buffer.type])))
}

/**
 * Workgroups in x and y for a kernel that counts them in one dimension: [count, 1], or a grid that is
 * slightly larger than `count` if it exceeds the limit of one dimension. The kernel uses `workgroup_id.x +
 * workgroup_id.y * num_workgroups.x` as its index and ignores indices from `count` on.
 */
export function foldWorkgroups(
  count: number,
  device: { readonly limits: DeviceLimits },
): readonly [x: number, y: number] {
  requireCount(count, 'The number of workgroups')
  const rows = Math.max(1, Math.ceil(count / limitsOf(device).maxWorkgroupsPerDimension))
  return [Math.ceil(count / rows), rows]
}

/**
 * Divides [0, count) into consecutive ranges of `most` each; the last may be shorter, and `most` may be
 * infinite.
 */
export function* ranges(count: number, most: number): Generator<{ first: number; count: number }> {
  requireCount(count, 'The number of elements to cut into ranges')
  if (count > 0 && most !== Number.POSITIVE_INFINITY) requireCount(most, 'The length of a range', 1)
  for (let first = 0; first < count; first += most) yield { first, count: Math.min(most, count - first) }
}

/**
 * Records a kernel over consecutive blocks of work, in as many dispatches as the device's limits on bindings
 * and workgroups require, which is nearly always one. Each dispatch is a separate launch: the kernel receives
 * parts of the views, computes on them as if they were complete, and uses `workgroup_id.x + workgroup_id.y *
 * num_workgroups.x` as its index (see `foldWorkgroups`). Throws `too-large` if one block exceeds the largest
 * binding of the device, and `validation` like `Recorder.dispatch`.
 */
export function dispatchBlocks<A>(
  recorder: Recorder,
  kernel: Kernel<A>,
  options: DispatchBlocksOptions<A>,
): void {
  if (!isObject(recorder) || !('dispatch' in recorder))
    throw invalid(
      `The recorder of dispatchBlocks is ${describedValue(recorder)}; it must be the recorder that record passes to its callback.`,
    )
  requireKernel(kernel)
  requireOptions(options, 'dispatchBlocks', dispatchBlocksOptions)
  if (!isObject(options.args))
    throw invalid(
      `The args of "${kernel.label}" are ${describedValue(options.args)}; they must be an object.`,
    )
  const { blocks, blocksPerWorkgroup = 1, label = kernel.label } = options
  requireCount(blocks, `The number of blocks of "${label}"`)
  requireCount(blocksPerWorkgroup, `The number of blocks of a workgroup of "${label}"`, 1)
  const args = Object.entries(options.args as BlockedArguments)
  const cut = args.filter((entry): entry is [string, BlockedView] => entry[1] instanceof BlockedView)
  for (const [name, { view }] of cut) requireDeviceView(view, `Argument ${name} of dispatch "${label}"`)
  const device = chooseDevice(recorder, kernel, options.device, new Map(cut))
  const bindable = bindableByteLength(device)
  const grid = device.limits.maxWorkgroupsPerDimension
  let most =
    Math.min(grid ** 2, Math.floor(Number.MAX_SAFE_INTEGER / blocksPerWorkgroup)) * blocksPerWorkgroup
  for (const [name, { view, blockLength }] of cut) {
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
    const part = ({ view, blockLength }: BlockedView) => {
      const start = Math.min(view.length, first * blockLength)
      return view.slice(start, Math.min(count * blockLength, view.length - start))
    }
    recorder.dispatch(kernel as Kernel, {
      device: device.ordinal,
      workgroups: foldWorkgroups(Math.ceil(count / blocksPerWorkgroup), device),
      args: Object.fromEntries(
        args.map(([name, value]) => [name, value instanceof BlockedView ? part(value) : value]),
      ),
      label,
    })
  }
}

const dispatchBlocksOptions = {
  device: 'any',
  blocks: 'any',
  blocksPerWorkgroup: 'any',
  args: 'any',
  label: 'string',
} as const

function limitsOf(device: { readonly limits: DeviceLimits }): DeviceLimits {
  if (!isObject(device) || !isObject(device.limits))
    throw invalid(`A device is ${describedValue(device)}; it must be a device of a group.`)
  return device.limits
}

function requireDeviceView(view: unknown, what: string): void {
  if (!(bufferOf(view) instanceof OwnedDeviceBuffer)) throw invalid(notAView(what, 'device', view))
}

/** With the limits that the recorder's devices have. */
function chooseDevice(
  recorder: Recorder,
  { label, reflection }: Pick<Kernel, 'label' | 'reflection'>,
  device: Device | number | undefined,
  cut: ReadonlyMap<string, BlockedView>,
): Device {
  if (device !== undefined) return deviceOf(recorder.devices as readonly GroupDevice[], device)
  const written = reflection.bindings.find(({ name, writes }) => writes && cut.has(name))
  const { view } = (written && cut.get(written.name)) ?? [...cut.values()][0] ?? {}
  if (view === undefined)
    throw invalid(
      `The dispatch of "${label}" splits no view into blocks; set \`device\` to say where it runs.`,
    )
  return recorder.devices[view.buffer.device.ordinal]!
}
