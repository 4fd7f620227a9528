import { flattened, regionsOverlap } from './byte-region.ts'
import type { AllocateOptions, BufferView, Device } from './device.ts'
import { OwnedDeviceBuffer } from './device-buffer.ts'
import { type OwnedView, recordDispatch } from './dispatch-recording.ts'
import { type ElementType, elementByteLength } from './element-type.ts'
import { GpuError } from './errors.ts'
import type { GroupDevice } from './group-device.ts'
import type { GroupState } from './group-state.ts'
import { type HostView, OwnedHostBuffer } from './host-buffer.ts'
import type { Kernel, OwnedKernel } from './kernel.ts'
import { bufferOf } from './owned-buffer.ts'
import { type Parameter, type ParameterType, RecordedParameter } from './parameter.ts'
import type { PlanCopy } from './plan.ts'
import { PlanBuilder } from './plan-builder.ts'
import type { CommandOptions, DispatchOptions, Recorder } from './recorder.ts'
import { requireScalar, scalarBits } from './scalar-bits.ts'
import { shapeRegion, type View } from './view.ts'

/** Scratch that the program allocates when it is prepared. */
export interface ScratchRequest {
  readonly buffer: OwnedDeviceBuffer
  readonly zero: boolean
}

/** The recorder that `DeviceGroup.record` lends to its callback. */
export class ProgramRecorder implements Recorder {
  readonly devices: readonly GroupDevice[]
  readonly plan: PlanBuilder
  readonly parameters = new Map<string, RecordedParameter>()
  readonly scratchRequests: ScratchRequest[] = []
  readonly #group: GroupState
  readonly #ownScratch = new Set<OwnedDeviceBuffer>()
  #closed = false

  constructor(group: GroupState, devices: readonly GroupDevice[]) {
    this.#group = group
    this.devices = devices
    this.plan = new PlanBuilder(group)
  }

  /** After the callback: a recorder that escaped takes no more commands. */
  close(): void {
    this.#closed = true
  }

  dispatch(kernel: Kernel, options: DispatchOptions): void {
    this.#requireOpen()
    recordDispatch(this, kernel as OwnedKernel, options)
  }

  copy(source: BufferView, target: BufferView, options: CommandOptions = {}): void {
    const from = this.ownView(source, 'The source of a copy')
    const to = this.ownView(target, 'The target of a copy')
    this.#addCopy('copy', to.buffer.device.ordinal, from, to, options)
  }

  upload(source: HostView, target: BufferView, options: CommandOptions = {}): void {
    const from = this.#hostView(source, 'The source of an upload')
    const to = this.ownView(target, 'The target of an upload')
    this.#addCopy('upload', to.buffer.device.ordinal, from, to, options)
  }

  download(source: BufferView, target: HostView, options: CommandOptions = {}): void {
    const from = this.ownView(source, 'The source of a download')
    const to = this.#hostView(target, 'The target of a download')
    this.#addCopy('download', from.buffer.device.ordinal, from, to, options)
  }

  fill(target: BufferView, value: number, options: CommandOptions = {}): void {
    this.#requireOpen()
    const to = this.ownView(target, 'The target of a fill')
    const { type, label } = to.buffer
    requireScalar(value, type, `The value that fills "${label}"`)
    if (to.length === 0) return
    const region = flattened(this.plan.region(to.buffer, to))
    this.plan.add(
      {
        kind: 'fill',
        label: options.label ?? `fill ${label}`,
        device: to.buffer.device.ordinal,
        target: region,
        pattern: scalarBits(type, value),
        patternByteLength: elementByteLength[type] as 2 | 4,
      },
      { reads: [], writes: [region] },
    )
  }

  scratch<T extends ElementType>(
    device: Device | number,
    type: T,
    shape: number | readonly [rows: number, columns: number],
    options: AllocateOptions = {},
  ): OwnedDeviceBuffer<T> {
    this.#requireOpen()
    const owner = this.device(device)
    const label = options.label ?? `scratch ${this.scratchRequests.length}`
    const region = shapeRegion(shape, `scratch "${label}"`)
    owner.requireBufferSize(type, region.length, label)
    const buffer = new OwnedDeviceBuffer(this.#group, owner, type, region, label, undefined, true)
    this.#ownScratch.add(buffer)
    this.scratchRequests.push({ buffer, zero: options.zero ?? false })
    return buffer
  }

  parameter(name: string, type: ParameterType, initial: number): Parameter {
    this.#requireOpen()
    if (this.parameters.has(name)) throw new GpuError('validation', `Parameter "${name}" is recorded twice.`)
    requireScalar(initial, type, `The initial value of parameter "${name}"`)
    const parameter = new RecordedParameter(name, type, initial)
    this.parameters.set(name, parameter)
    return parameter
  }

  device(of: Device | number): GroupDevice {
    const device = this.devices[typeof of === 'number' ? of : of.ordinal]
    if (device === undefined || (typeof of !== 'number' && device !== of)) {
      const asked = typeof of === 'number' ? `Device ${of}` : `Device ${of.ordinal} of another group`
      throw new GpuError(
        'validation',
        `${asked} is not in the group, which has ${this.devices.length} devices.`,
      )
    }
    return device
  }

  canAccessPeer(reader: number, owner: number): boolean {
    return this.#group.runtime.canAccessPeer(reader, owner)
  }

  ownView(view: unknown, what: string): OwnedView {
    const buffer = bufferOf(view)
    if (!(buffer instanceof OwnedDeviceBuffer))
      throw new GpuError('validation', `${what} is not a view of a device buffer.`)
    if (buffer.isScratch && !this.#ownScratch.has(buffer))
      throw new GpuError('validation', `${what} is scratch "${buffer.label}" of another program.`)
    return view as OwnedView
  }

  #hostView(view: unknown, what: string): View<OwnedHostBuffer> {
    if (bufferOf(view) instanceof OwnedHostBuffer) return view as View<OwnedHostBuffer>
    throw new GpuError('validation', `${what} is not a view of a host buffer.`)
  }

  #addCopy(
    kind: PlanCopy['kind'],
    device: number,
    source: View<OwnedDeviceBuffer | OwnedHostBuffer>,
    target: View<OwnedDeviceBuffer | OwnedHostBuffer>,
    options: CommandOptions,
  ): void {
    this.#requireOpen()
    const { buffer: sourceBuffer } = source
    const { buffer: targetBuffer } = target
    const label = options.label ?? `${kind} ${sourceBuffer.label} to ${targetBuffer.label}`
    if (source.rows !== target.rows || source.columns !== target.columns)
      throw new GpuError(
        'validation',
        `The ${kind} "${label}" goes from ${source.rows} x ${source.columns} to ${target.rows} x ${target.columns} elements; the shapes must be equal.`,
      )
    if (sourceBuffer.type !== targetBuffer.type)
      throw new GpuError(
        'validation',
        `The ${kind} "${label}" goes from ${sourceBuffer.type} to ${targetBuffer.type}; the types must be equal.`,
      )
    if (source.length === 0) return
    const sourceRows = this.plan.region(sourceBuffer, source)
    const targetRows = this.plan.region(targetBuffer, target)
    const from = flattened(sourceRows)
    const to = flattened(targetRows)
    if (from.buffer === to.buffer && regionsOverlap(from, to))
      throw new GpuError(
        'validation',
        `The source and the target of the ${kind} "${label}" overlap in buffer "${sourceBuffer.label}".`,
      )
    // One row only where both sides are contiguous: source and target keep the same shape.
    const flat = from.rows === 1 && to.rows === 1
    this.plan.add(
      {
        kind,
        label,
        device,
        source: flat ? from : sourceRows,
        target: flat ? to : targetRows,
      },
      { reads: [from], writes: [to] },
    )
  }

  #requireOpen(): void {
    if (this.#closed)
      throw new GpuError(
        'validation',
        'The recording has ended; commands can be added only inside the callback of `record`.',
      )
  }
}
