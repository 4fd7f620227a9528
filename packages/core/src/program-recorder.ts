import { flattened, regionsOverlap } from './byte-region.ts'
import { describedValue } from './described-value.ts'
import type { AllocateOptions, BufferView, Device } from './device.ts'
import { OwnedDeviceBuffer } from './device-buffer.ts'
import { type OwnedView, recordDispatch } from './dispatch-recording.ts'
import { type ElementType, elementByteLength } from './element-type.ts'
import { invalid } from './errors.ts'
import { allocateOptions, deviceOf, type GroupDevice } from './group-device.ts'
import type { GroupState } from './group-state.ts'
import { type HostView, OwnedHostBuffer } from './host-buffer.ts'
import { type Kernel, type OwnedKernel, requireKernel } from './kernel.ts'
import { MessageList } from './message-list.ts'
import { requireOptions } from './options.ts'
import { bufferOf, notAView } from './owned-buffer.ts'
import { type Parameter, type ParameterType, type ParameterValue, RecordedParameter } from './parameter.ts'
import type { ByteRegion, PlanCopy, Schedule } from './plan.ts'
import { type AnyBuffer, PlanBuilder } from './plan-builder.ts'
import { RankParts } from './rank-parts.ts'
import type { CommandOptions, DispatchOptions, Recorder } from './recorder.ts'
import { requireScalar, scalarBits } from './scalar-bits.ts'
import { shapeRegion, type View } from './view.ts'
import { type CopySide, copySteps } from './whole-copies.ts'

/** Scratch that the program allocates when it is prepared. */
export interface ScratchRequest {
  readonly buffer: OwnedDeviceBuffer
  readonly zero: boolean
}

const commandOptions = { label: 'string' } as const

type AnyView = View<AnyBuffer>

/** The recorder that `DeviceGroup.record` lends to its callback. */
export class ProgramRecorder implements Recorder {
  readonly devices: readonly GroupDevice[]
  readonly plan: PlanBuilder
  readonly parameters = new Map<string, RecordedParameter>()
  readonly scratchRequests: ScratchRequest[] = []
  readonly debug: boolean
  /** The messages that the other ranks must record too; absent in a group of one process. */
  readonly messages: MessageList | undefined
  readonly #group: GroupState
  readonly #ownScratch = new Set<OwnedDeviceBuffer>()
  /** Over several ranks, `#parts` makes this rank's parts of the commands, and `#elsewhere` checks the commands of other ranks. */
  readonly #parts: RankParts | undefined
  readonly #elsewhere: PlanBuilder
  readonly #serial: boolean
  /** Whether every rank gets the commands of all devices. */
  readonly #whole: boolean
  #scratches = 0
  #closed = false

  /** `number` counts the programs of the group. */
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
    this.#serial = schedule === 'serial'
    this.plan = new PlanBuilder(group)
    this.#whole = group.sharesMemory
    const inParts = group.calls !== undefined && !this.#whole
    this.#elsewhere = inParts ? new PlanBuilder(group, false) : this.plan
    if (!inParts) return
    const place = { rank: group.rank, count: group.rankCount, device: this.#firstDevice() }
    this.messages = new MessageList(group.rank, number)
    this.#parts = new RankParts(this.plan, place, this.messages, this.#serial)
  }

  /** Called after the callback: a recorder that escapes from it takes no more commands. */
  close(): void {
    if (!this.#closed) this.#parts?.finish()
    this.#closed = true
  }

  /** Throws `validation` where the callback has destroyed what it recorded. */
  requireLive(program: string): void {
    for (const resource of this.plan.resources)
      if (resource.destroyed)
        throw invalid(
          `The callback that records "${program}" destroys "${resource.label}", which a command uses; destroy it after \`record\`.`,
        )
  }

  touches(...devices: readonly (Device | number)[]): boolean {
    const owners = devices.map((device) => this.device(device))
    return this.#parts === undefined || this.#serial || owners.some(({ local }) => local)
  }

  fence(device: Device | number): void {
    this.#requireOpen()
    const { ordinal, local } = this.device(device)
    if (local || this.#whole) this.plan.fence(ordinal)
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
    this.#parts?.enter([device.rank])
    return device.local ? this.plan : this.#elsewhere
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
    const { from, to, ...regions } = copyRegions(this.#regionOf(source), this.#regionOf(target))
    if (sourceBuffer === targetBuffer && regionsOverlap(from, to))
      throw invalid(
        `The source and the target of the ${kind} "${label}" overlap in buffer "${sourceBuffer.label}".`,
      )
    if (this.#whole) {
      this.#addWholeCopy(source, target, label)
      return
    }
    const sourceDevice = sourceBuffer.device?.ordinal
    const targetDevice = targetBuffer.device?.ordinal
    // A download runs on the device that it reads; every other copy on the device that it writes, if it writes to one.
    const own = kind === 'download' ? sourceDevice : (targetDevice ?? sourceDevice)
    const command = { kind, label, device: own ?? this.#firstDevice(), ...regions }
    if (this.#parts === undefined) this.plan.add(command, { reads: [from], writes: [to] })
    else
      this.#parts.copy({
        command,
        sourceRank: sourceBuffer.rank,
        targetRank: targetBuffer.rank,
        sourceDevice: sourceDevice ?? this.#firstDevice(),
        targetDevice: targetDevice ?? this.#firstDevice(),
        from,
        to,
      })
  }

  #addWholeCopy(source: AnyView, target: AnyView, label: string): void {
    const passages = new Map<number, OwnedDeviceBuffer>()
    const { type } = source.buffer
    const shape = [source.rows, source.columns] as const
    const passage = (device: number) => {
      const made = passages.get(device) ?? this.scratch(device, type, shape, { label: `passage of ${label}` })
      passages.set(device, made)
      return made
    }
    const regionOf = (view: AnyView, side: CopySide) => {
      if (side.memory === 'host') return this.plan.region(view.buffer, view, side.rank)
      if (side.memory === 'device') return this.plan.region(view.buffer, view)
      const placed = passage(side.device)
      return this.plan.region(placed, placed)
    }
    for (const step of copySteps(source.buffer, target.buffer, this.devices)) {
      const { from, to, ...regions } = copyRegions(
        regionOf(source, step.source),
        regionOf(target, step.target),
      )
      const { kind, device } = step
      this.plan.add({ kind, label, device, ...regions }, { reads: [from], writes: [to] })
    }
  }

  /** The rank's first device; -1 where it has none. */
  #firstDevice(): number {
    return this.devices.find(({ local }) => local)?.ordinal ?? -1
  }

  #regionOf(view: AnyView): ByteRegion {
    const { buffer } = view
    const plan = buffer.local ? this.plan : this.#elsewhere
    // In a whole plan host memory is somebody's: of many copies, one tells the rows, the same on all ranks.
    const rank = this.#whole && buffer instanceof OwnedHostBuffer ? (buffer.rank ?? 0) : undefined
    return plan.region(buffer, view, rank)
  }

  #requireOpen(): void {
    if (this.#closed)
      throw invalid('The recording has ended; commands can be added only inside the callback of `record`.')
  }
}

/**
 * The regions of a copy: `from` and `to`, each with as few rows as it can have, for the hazards; `source` and `target`, which have equal rows,
 * and so one row only where both are contiguous.
 */
function copyRegions(sourceRows: ByteRegion, targetRows: ByteRegion) {
  const from = flattened(sourceRows)
  const to = flattened(targetRows)
  const flat = from.rows === 1 && to.rows === 1
  return { from, to, source: flat ? from : sourceRows, target: flat ? to : targetRows }
}
