import type { OwnedDeviceBuffer } from '../buffers/device-buffer.ts'
import type { View } from '../buffers/view.ts'
import { describedValue, isObject } from '../described-value.ts'
import { GpuError, invalid } from '../errors.ts'
import type { GroupDevice } from '../group/group-device.ts'
import type { OwnedKernel } from '../kernels/kernel.ts'
import type { AutomaticValue, StorageSlot, UniformMember } from '../kernels/kernel-layout.ts'
import type { RecordedParameter } from '../kernels/parameter.ts'
import { requireScalar, storeScalar, type UniformScalar } from '../kernels/scalar-bits.ts'
import { type UniformTarget, writeUniformValue } from '../kernels/uniform-value.ts'
import { requireOptions } from '../options.ts'
import { flattened, regionEnd } from '../plan/byte-region.ts'
import type { ByteRegion, PlanBinding } from '../plan/plan.ts'
import type { PlanBuilder } from '../plan/plan-builder.ts'
import { wholeWords } from '../whole-words.ts'
import { type BoundRegion, requireInvocationsInside } from './invocation-check.ts'
import type { DispatchOptions } from './recorder.ts'

/** The part of the recorder that recording a dispatch needs. */
export interface DispatchContext {
  /** The builder that collects the commands of a device. */
  planOf(device: GroupDevice): PlanBuilder
  readonly devices: readonly GroupDevice[]
  readonly parameters: ReadonlyMap<string, RecordedParameter>
  /** Whether the group was opened with `debug`. */
  readonly debug: boolean
  device(of: DispatchOptions['device'] & {}): GroupDevice
  requireKernel(kernel: OwnedKernel): void
  ownView(view: unknown, what: string): OwnedView
  canAccessPeer(reader: number, owner: number): boolean
}

export type OwnedView = View<OwnedDeviceBuffer>

interface BoundView extends BoundRegion {
  readonly view: OwnedView
}

/** A dispatch during its recording. */
interface Dispatch {
  readonly context: DispatchContext
  readonly kernel: OwnedKernel
  readonly options: DispatchOptions
  /** The name of the dispatch in messages. */
  readonly where: string
}

/** Checks a dispatch and adds it to the plan. */
export function recordDispatch(
  context: DispatchContext,
  kernel: OwnedKernel,
  options: DispatchOptions,
): void {
  context.requireKernel(kernel)
  requireOptions(options, 'a dispatch', dispatchOptions)
  const { layout } = kernel.compiled
  const label = options.label ?? kernel.label
  const where = `dispatch "${label}"`
  const dispatch: Dispatch = { context, kernel, options, where }
  checkNames(dispatch)
  const workgroups = workgroupCounts(dispatch)
  const views = layout.storage.map((slot) => {
    const given = options.args[slot.name]
    if (given === undefined)
      throw invalid(`The ${where} has no view for binding ${slot.name} of kernel "${kernel.label}".`)
    const view = context.ownView(given, `Argument ${slot.name} of ${where}`)
    checkType(slot, view, where)
    return view
  })
  if (workgroups.includes(0) || touchesNothing(layout.storage, views)) return

  const device = chooseDevice(dispatch, views)
  const plan = context.planOf(device)
  workgroups.forEach((count, axis) => {
    if (count > device.limits.maxWorkgroupsPerDimension)
      throw new GpuError(
        'too-large',
        `The ${where} requests ${count} workgroups in ${'xyz'[axis]}; device ${device.ordinal} allows at most ${device.limits.maxWorkgroupsPerDimension}.`,
      )
  })
  const bound = layout.storage.map((slot, i) => bind(dispatch, plan, device, slot, views[i]!))
  checkAliasing(bound, where)
  if (context.debug) requireInvocationsInside(kernel, bound, workgroups, options.args, where)
  // Without a member `x_base` the kernel cannot know the offset of the view in the binding, so the offset
  // must be zero.
  for (const { slot, region, byteOffset } of bound)
    if (!slot.hasBase && region.byteOffset !== byteOffset)
      throw invalid(
        `The view of ${slot.name} in ${where} starts ${region.byteOffset - byteOffset} bytes after a multiple of ${device.limits.bindingOffsetAlignment}, and kernel "${kernel.label}" has no uniform member ${slot.name}_base to receive that offset.`,
      )

  const bindings: PlanBinding[] = []
  const reads: ByteRegion[] = []
  const writes: ByteRegion[] = []
  for (const { slot, region, byteOffset, byteLength } of bound) {
    const { group, binding, name, access } = slot
    const view = flattened(region)
    const place = { group, binding, name, access, buffer: region.buffer, byteOffset, byteLength, view }
    bindings.push({ kind: 'storage', ...place, reads: slot.reads, writes: slot.writes })
    if (slot.writes) writes.push(view)
    else if (slot.reads) reads.push(view)
  }
  for (const uniform of layout.uniforms) {
    const byteOffset = plan.uniforms.reserve(uniform.byteLength)
    for (const member of uniform.members) writeMember(dispatch, plan, byteOffset, member, bound)
    const { name, group, binding, byteLength } = uniform
    bindings.push({ kind: 'uniform', group, binding, name, byteOffset, byteLength })
  }
  plan.add(
    { kind: 'dispatch', label, device: device.ordinal, kernel: plan.kernel(kernel), workgroups, bindings },
    { reads, writes },
  )
}

const dispatchOptions = { device: 'any', workgroups: 'any', args: 'any', label: 'string' } as const

function checkNames({ kernel, options, where }: Dispatch): void {
  const names = kernel.compiled.layout.argumentNames
  if (!isObject(options.args))
    throw invalid(
      `The args of ${where} are ${describedValue(options.args)}; they must be an object with ${[...names].join(', ') || 'no members'}.`,
    )
  for (const name in options.args)
    if (!names.has(name))
      throw invalid(
        `The ${where} has an argument "${name}" that kernel "${kernel.label}" does not use; its arguments are ${[...names].join(', ') || 'none'}.`,
      )
}

function workgroupCounts({ options, where }: Dispatch): [x: number, y: number, z: number] {
  const given: unknown = options.workgroups
  if (typeof given !== 'number' && !(Array.isArray(given) && given.length >= 1 && given.length <= 3))
    throw invalid(
      `The workgroups of ${where} are ${describedValue(given)}; they must be a count, or one to three counts in an array.`,
    )
  const counts: [number, number, number] =
    typeof given === 'number' ? [given, 1, 1] : [given[0], given[1] ?? 1, given[2] ?? 1]
  for (const count of counts)
    if (!Number.isSafeInteger(count) || count < 0)
      throw invalid(
        `The ${where} requests ${describedValue(count)} workgroups; a count must be a whole number of at least 0.`,
      )
  return counts
}

function checkType(slot: StorageSlot, view: OwnedView, where: string): void {
  const { type, label } = view.buffer
  const expected = slot.scalar === 'mixed' ? 'u32' : slot.scalar
  if (type === expected || (isBytes(view) && slot.scalar === 'u32')) return
  const declared =
    slot.scalar === 'mixed' ? 'a structure of several types (which needs a u32 buffer)' : slot.scalar
  throw invalid(`Binding ${slot.name} in ${where} holds ${declared}; buffer "${label}" holds ${type}.`)
}

const isBytes = ({ buffer: { type } }: OwnedView) => type === 'u8' || type === 'i8'

/**
 * The region that a kernel accesses through a view of u8 or i8: the whole words that contain its rows.
 * Contiguous rows count as one.
 */
function words(region: ByteRegion): ByteRegion {
  const { rows, rowByteStride, ...rest } = flattened(region)
  const rowByteLength = wholeWords(rest.rowByteLength)
  return { ...rest, rowByteLength, rows, rowByteStride: rows === 1 ? rowByteLength : rowByteStride }
}

/** Whether the dispatch has no effect: all its views are empty, or all views that the kernel writes are. */
function touchesNothing(slots: readonly StorageSlot[], views: readonly OwnedView[]): boolean {
  let written = 0
  let writtenElements = 0
  let elements = 0
  for (let i = 0; i < slots.length; i++) {
    elements += views[i]!.length
    if (!slots[i]!.writes) continue
    written++
    writtenElements += views[i]!.length
  }
  return slots.length > 0 && (elements === 0 || (written > 0 && writtenElements === 0))
}

function chooseDevice(
  { context, kernel, options, where }: Dispatch,
  views: readonly OwnedView[],
): GroupDevice {
  if (options.device !== undefined) return context.device(options.device)
  const written = kernel.compiled.layout.storage.findIndex((slot) => slot.writes)
  const owner = views[Math.max(0, written)]
  if (owner === undefined) throw invalid(`The ${where} binds no buffer; set \`device\` to say where it runs.`)
  return context.devices[owner.buffer.device.ordinal]!
}

function bind(
  { context, where }: Dispatch,
  plan: PlanBuilder,
  device: GroupDevice,
  slot: StorageSlot,
  view: OwnedView,
): BoundView {
  const { buffer } = view
  if (view.length === 0)
    throw invalid(
      `The view of ${slot.name} in ${where} is empty, but other views are not; a binding needs at least one element.`,
    )
  const owner = buffer.device.ordinal
  if (owner !== device.ordinal && !context.canAccessPeer(device.ordinal, owner))
    throw invalid(
      `The ${where} runs on device ${device.ordinal} and binds ${slot.name}, "${buffer.label}" of device ${owner}, whose memory it cannot access; copy it first.`,
    )
  const elements = plan.region(buffer, view)
  const region = isBytes(view) ? words(elements) : elements
  const alignment = device.limits.bindingOffsetAlignment
  const byteOffset = region.byteOffset - (region.byteOffset % alignment)
  const byteLength = regionEnd(region) - byteOffset
  if (byteLength > device.limits.maxStorageBindingByteLength)
    throw new GpuError(
      'too-large',
      `The view of ${slot.name} in ${where} needs a binding of ${byteLength} bytes; device ${device.ordinal} allows at most ${device.limits.maxStorageBindingByteLength}.`,
    )
  if (byteLength < slot.minByteLength)
    throw invalid(
      `The view of ${slot.name} in ${where} has ${byteLength} bytes; the binding needs at least ${slot.minByteLength}.`,
    )
  const unit = slot.strideByteLength
  if (region.byteOffset % unit !== 0 || (region.rows > 1 && region.rowByteStride % unit !== 0))
    throw invalid(
      `The view of ${slot.name} in ${where} starts at byte ${region.byteOffset} with rows ${region.rowByteStride} bytes apart; both must be multiples of ${unit}, the size in bytes of the binding's array element.`,
    )
  return { slot, view, region, byteOffset, byteLength }
}

/**
 * Applies the rules of WebGPU's usage scopes on every backend. The uniformity analysis of WGSL depends on
 * them: values loaded from a read-only binding count as uniform, so the kernel must not write them through
 * another binding.
 */
function checkAliasing(bound: readonly BoundView[], where: string): void {
  for (let i = 1; i < bound.length; i++)
    for (let j = 0; j < i; j++) {
      const a = bound[j]!
      const b = bound[i]!
      if (a.region.buffer !== b.region.buffer) continue
      const names = `${a.slot.name} and ${b.slot.name} of ${where} are both in buffer "${a.view.buffer.label}"`
      if (a.slot.access !== b.slot.access)
        throw invalid(
          `${names}, one as read and the other as read_write; a dispatch may use a buffer in only one of these ways, even where the ranges do not overlap.`,
        )
      if (
        a.slot.access === 'read_write' &&
        a.byteOffset < b.byteOffset + b.byteLength &&
        b.byteOffset < a.byteOffset + a.byteLength
      )
        throw invalid(
          `${names} as read_write, and their bound ranges [${a.byteOffset}, ${a.byteOffset + a.byteLength}) and [${b.byteOffset}, ${b.byteOffset + b.byteLength}) overlap (ranges start at multiples of 256 bytes).`,
        )
    }
}

function writeMember(
  { context, options, where }: Dispatch,
  plan: PlanBuilder,
  blockByteOffset: number,
  member: UniformMember,
  bound: readonly BoundView[],
): void {
  const given = options.args[member.name]
  const { view } = plan.uniforms
  const byteOffset = blockByteOffset + member.byteOffset
  if (given === undefined) {
    if (member.auto === undefined)
      throw invalid(`The ${where} has no value for uniform member ${member.name} (${member.type.name}).`)
    // Blocks are zeroed when they are reserved.
    if (member.auto === 'absent') return
    const scalar = member.type.scalar as UniformScalar
    const value = automaticValue(member.auto, bound, where)
    requireScalar(value, scalar, `${member.name} of ${where}`)
    storeScalar(view, byteOffset, scalar, value)
    return
  }
  const target: UniformTarget = {
    view,
    place(parameter, at, what) {
      if (context.parameters.get(parameter.name) !== parameter)
        throw invalid(`${what} is parameter "${parameter.name}" of another recording.`)
      plan.uniforms.place(parameter, at)
    },
  }
  const what = `Argument ${member.name} of ${where}`
  writeUniformValue({ target, byteOffset, type: member.type, what }, given)
}

function automaticValue(
  { storage, what }: AutomaticValue,
  bound: readonly BoundView[],
  where: string,
): number {
  const { slot, view, region, byteOffset } = bound[storage]!
  switch (what) {
    case 'base':
      return (region.byteOffset - byteOffset) / slot.strideByteLength
    case 'stride': {
      const rowByteStride = view.stride * view.buffer.elementByteLength
      // Rows of u8 or i8 without gaps may have any length in bytes, which is not always a whole number of
      // words.
      if (view.rows > 1 && rowByteStride % slot.strideByteLength !== 0)
        throw invalid(
          `The rows of ${slot.name} in ${where} are ${rowByteStride} bytes apart, which is not a multiple of the ${slot.strideByteLength} bytes in which the uniform member ${slot.name}_stride counts; use ${slot.name}_columns in the kernel instead.`,
        )
      return Math.floor(rowByteStride / slot.strideByteLength)
    }
    default:
      return view[what]
  }
}
