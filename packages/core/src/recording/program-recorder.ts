import { OwnedDeviceBuffer } from '../buffers/device-buffer.ts'
import { type ElementType, elementByteLength } from '../buffers/element-type.ts'
import { type HostView, OwnedHostBuffer } from '../buffers/host-buffer.ts'
import { bufferOf, notAView } from '../buffers/owned-buffer.ts'
import { shapeRegion, type View } from '../buffers/view.ts'
import { describedValue } from '../described-value.ts'
import { invalid } from '../errors.ts'
import type { AllocateOptions, BufferView, Device } from '../group/device.ts'
import { allocateOptions, deviceOf, type GroupDevice } from '../group/group-device.ts'
import type { GroupState } from '../group/group-state.ts'
import { type Kernel, type OwnedKernel, requireKernel } from '../kernels/kernel.ts'
import {
  type Parameter,
  type ParameterType,
  type ParameterValue,
  RecordedParameter,
} from '../kernels/parameter.ts'
import { requireScalar, scalarBits } from '../kernels/scalar-bits.ts'
import { requireOptions } from '../options.ts'
import { flattened, regionsOverlap } from '../plan/byte-region.ts'
import type { PlanCopy, Schedule } from '../plan/plan.ts'
import type { PlanBuilder } from '../plan/plan-builder.ts'
import type { MessageList } from '../ranks/message-list.ts'
import { RankParts } from '../ranks/rank-parts.ts'
import { WholeRecording } from '../ranks/whole-recording.ts'
import { type OwnedView, recordDispatch } from './dispatch-recording.ts'
import type { CommandOptions, DispatchOptions, Recorder } from './recorder.ts'
import { type AnyView, copyRegions, LocalRecording, type Recording } from './recording.ts'

/** Scratch that the program allocates when it is prepared. */
export interface ScratchRequest {
  readonly buffer: OwnedDeviceBuffer
  readonly zero: boolean
}

const commandOptions = { label: 'string' } as const

/** The recorder that `DeviceGroup.record` passes to its callback. */
export class ProgramRecorder implements Recorder {
  readonly devices: readonly GroupDevice[]
  readonly parameters = new Map<string, RecordedParameter>()
  readonly scratchRequests: ScratchRequest[] = []
  readonly debug: boolean
  readonly #group: GroupState
  readonly #ownScratch = new Set<OwnedDeviceBuffer>()
  readonly #recording: Recording
  #scratches = 0
  #closed = false

  /** `number` is the number of the program in the group. */
  constructor(
    group: GroupState,
    devices: readonly GroupDevice[],
    number: number,
    schedule: Schedule,
    debug = false,
  ) {
    this.debug = debug
    this.#group = group
    this.devices = devices
    const scratch: WholeRecording['scratch'] = (device, view, label) =>
      this.scratch(device, view.buffer.type, [view.rows, view.columns], { label })
    this.#recording =
      group.calls === undefined
        ? new LocalRecording(group, devices)
        : group.sharesMemory
          ? new WholeRecording(group, devices, scratch)
          : new RankParts(group, devices, number, schedule === 'serial')
  }

  get plan(): PlanBuilder {
    return this.#recording.plan
  }

  /** The messages that the other ranks must record too; undefined in a group without messages. */
  get messages(): MessageList | undefined {
    return this.#recording.messages
  }

  /** Called after the callback: a recorder that escapes from it accepts no more commands. */
  close(): void {
    if (!this.#closed) this.#recording.finish()
    this.#closed = true
  }

  /** Throws `validation` if the callback has destroyed something that a command uses. */
  requireLive(program: string): void {
    for (const resource of this.plan.resources)
      if (resource.destroyed)
        throw invalid(
          `The callback that records "${program}" destroys "${resource.label}", which a command uses; destroy it after \`record\`.`,
        )
  }

  touches(...devices: readonly (Device | number)[]): boolean {
    return this.#recording.touches(devices.map((device) => this.device(device)))
  }

  fence(device: Device | number): void {
    this.#requireOpen()
    this.#recording.fence(this.device(device))
  }

  dispatch<A>(kernel: Kernel<A>, options: DispatchOptions<A>): void {
    this.#requireOpen()
    recordDispatch(this, kernel as OwnedKernel, options as DispatchOptions)
  }

  copy(source: BufferView | HostView, target: BufferView | HostView, options: CommandOptions = {}): void {
    const from = this.#anyView(source, 'The source of a copy')
    const to = this.#anyView(target, 'The target of a copy')
    const onHost = from.buffer instanceof OwnedHostBuffer
    const kind = onHost === to.buffer instanceof OwnedHostBuffer ? 'copy' : onHost ? 'upload' : 'download'
    this.#addCopy(kind, from, to, options)
  }

  upload(source: HostView, target: BufferView, options: CommandOptions = {}): void {
    const from = this.#hostView(source, 'The source of an upload')
    const to = this.ownView(target, 'The target of an upload')
    this.#addCopy('upload', from, to, options)
  }

  download(source: BufferView, target: HostView, options: CommandOptions = {}): void {
    const from = this.ownView(source, 'The source of a download')
    const to = this.#hostView(target, 'The target of a download')
    this.#addCopy('download', from, to, options)
  }

  fill(target: BufferView, value: number, options: CommandOptions = {}): void {
    this.#requireOpen()
    requireOptions(options, 'a fill', commandOptions)
    const to = this.ownView(target, 'The target of a fill')
    const { type, label } = to.buffer
    requireScalar(value, type, `The value that fills "${label}"`)
    if (to.length === 0) return
    const plan = this.planOf(this.device(to.buffer.device))
    const region = flattened(plan.region(to.buffer, to))
    plan.add(
      {
        kind: 'fill',
        label: options.label ?? `fill ${label}`,
        device: to.buffer.device.ordinal,
        target: region,
        pattern: scalarBits(type, value),
        patternByteLength: elementByteLength[type],
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
    requireOptions(options, 'scratch', allocateOptions)
    const owner = this.device(device)
    const label = options.label ?? `scratch ${this.#scratches}`
    this.#scratches++
    const region = shapeRegion(shape, `scratch "${label}"`)
    owner.requireBufferSize(type, region.length, label)
    const buffer = new OwnedDeviceBuffer(this.#group, owner, type, region, label, undefined, true)
    this.#ownScratch.add(buffer)
    if (owner.local) this.scratchRequests.push({ buffer, zero: options.zero ?? false })
    return buffer
  }

  parameter(name: string, type: ParameterType, initial: ParameterValue): Parameter {
    this.#requireOpen()
    if (typeof name !== 'string')
      throw invalid(`The name of a parameter is ${describedValue(name)}; it must be a string.`)
    if (this.parameters.has(name)) throw invalid(`Parameter "${name}" is recorded twice.`)
    const parameter = new RecordedParameter(name, type, initial)
    this.parameters.set(name, parameter)
    return parameter
  }

  device(of: Device | number): GroupDevice {
    return deviceOf(this.devices, of)
  }

  planOf(device: GroupDevice): PlanBuilder {
    return this.#recording.planOf(device)
  }

  requireKernel(kernel: OwnedKernel): void {
    requireKernel(kernel)
    if (kernel.group !== this.#group)
      throw invalid(`A kernel of another group cannot run in group "${this.#group.label}".`)
    if (kernel.destroyed) throw invalid(`Kernel "${kernel.label}" is destroyed.`)
  }

  canAccessPeer(reader: number, owner: number): boolean {
    return this.#group.runtime.canAccessPeer(reader, owner)
  }

  ownView(view: unknown, what: string): OwnedView {
    const buffer = bufferOf(view)
    if (!(buffer instanceof OwnedDeviceBuffer)) throw invalid(notAView(what, 'device', view))
    if (buffer.isScratch && !this.#ownScratch.has(buffer))
      throw invalid(`${what} is scratch "${buffer.label}" of another program.`)
    return view as OwnedView
  }

  #anyView(view: unknown, what: string): AnyView {
    return bufferOf(view) instanceof OwnedHostBuffer
      ? (view as View<OwnedHostBuffer>)
      : this.ownView(view, what)
  }

  #hostView(view: unknown, what: string): View<OwnedHostBuffer> {
    if (bufferOf(view) instanceof OwnedHostBuffer) return view as View<OwnedHostBuffer>
    throw invalid(notAView(what, 'host', view))
  }

  #addCopy(kind: PlanCopy['kind'], source: AnyView, target: AnyView, options: CommandOptions): void {
    this.#requireOpen()
    requireOptions(options, `a ${kind}`, commandOptions)
    const { buffer: sourceBuffer } = source
    const { buffer: targetBuffer } = target
    const label = options.label ?? `${kind} ${sourceBuffer.label} to ${targetBuffer.label}`
    if (source.rows !== target.rows || source.columns !== target.columns)
      throw invalid(
        `The ${kind} "${label}" goes from ${source.rows} x ${source.columns} to ${target.rows} x ${target.columns} elements; the shapes must be equal.`,
      )
    if (sourceBuffer.type !== targetBuffer.type)
      throw invalid(
        `The ${kind} "${label}" goes from ${sourceBuffer.type} to ${targetBuffer.type}; the types must be equal.`,
      )
    if (source.length === 0) return
    const regions = copyRegions(this.#recording.regionOf(source), this.#recording.regionOf(target))
    if (sourceBuffer === targetBuffer && regionsOverlap(regions.from, regions.to))
      throw invalid(
        `The source and the target of the ${kind} "${label}" overlap in buffer "${sourceBuffer.label}".`,
      )
    this.#recording.copy({ kind, label, sourceView: source, targetView: target, ...regions })
  }

  #requireOpen(): void {
    if (this.#closed)
      throw invalid('The recording has ended; commands can be added only inside the callback of `record`.')
  }
}
