import { GPUBufferUsage as Usage } from './constants.ts'

const { MAP_READ, MAP_WRITE, COPY_SRC, COPY_DST, STORAGE, UNIFORM, INDIRECT } = Usage

/** Sets of usages that a buffer may have, and those that it may not. */
export const usages = {
  ...Usage,
  right: [
    ...[MAP_READ | COPY_DST, MAP_WRITE | COPY_SRC, MAP_READ, COPY_SRC | COPY_DST, STORAGE],
    ...[STORAGE | COPY_SRC | COPY_DST, STORAGE | COPY_SRC | COPY_DST, STORAGE | COPY_SRC],
  ],
  wrong: [0, 0x8000, MAP_READ | STORAGE, MAP_WRITE | COPY_DST, MAP_READ | MAP_WRITE],
} as const

const threads = 8
const most = 65_535
/**
 * The workgroup counts that indirect dispatches read, and the uniforms' values at each multiple of 256 bytes.
 */
const indirectCounts = [2, 1, 1, 0, 5, 1, 3, 2, 1, 70_000, 1, 1, 1, 1, 4]
const factors = [3, 5, 7, 11]

const code = `
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> factor: vec4u;
var<workgroup> seen: array<u32, ${threads}>;
@compute @workgroup_size(${threads}) fn main(
  @builtin(workgroup_id) w: vec3u, @builtin(num_workgroups) n: vec3u, @builtin(local_invocation_index) l: u32,
) {
  let i = ((w.z * n.y + w.y) * n.x + w.x) * ${threads}u + l;
  // Zero at the beginning of each workgroup.
  seen[l] += 1u;
  workgroupBarrier();
  if (i >= arrayLength(&y)) { return; }
  y[i] = y[i] + factor.x * x[min(i, arrayLength(&x) - 1u)] + seen[${threads - 1}u - l];
}`

/** A buffer, with its expected state and content. */
export class ModelBuffer {
  readonly buffer: GPUBuffer
  readonly owner: DeviceModel
  readonly size: number
  readonly usage: number
  readonly valid: boolean
  readonly bytes: Uint8Array
  destroyed = false
  /** The mapped byte range. */
  mapped: readonly [from: number, to: number] | undefined
  mode: 'read' | 'write' | 'creation' = 'read'
  /** A call of mapAsync; it takes the buffer from the queue only if it is valid. */
  pending: { aborted: boolean; readonly isValid: boolean; settled: Promise<void> } | undefined
  ranges: { from: number; to: number; arrayBuffer: ArrayBuffer; written: Uint8Array | undefined }[] = []

  constructor(
    owner: DeviceModel,
    buffer: GPUBuffer,
    size: number,
    usage: number,
    valid: boolean,
    isMapped: boolean,
  ) {
    this.owner = owner
    this.buffer = buffer
    this.size = size
    this.usage = usage
    this.valid = valid
    this.bytes = new Uint8Array(valid ? size : 0)
    if (isMapped) {
      this.mapped = [0, size]
      this.mode = 'creation'
    }
  }

  get state(): GPUBufferMapState {
    if (this.mapped !== undefined) return 'mapped'
    return this.pending === undefined ? 'unmapped' : 'pending'
  }

  /** Whether submits may use the buffer. */
  get isFree(): boolean {
    return this.valid && !this.destroyed && this.mapped === undefined && this.pending?.isValid !== true
  }
}

interface Finished {
  readonly commandBuffer: GPUCommandBuffer
  valid: boolean
  readonly buffers: ReadonlySet<ModelBuffer>
  readonly effects: readonly (() => void)[]
}

interface Dispatch {
  readonly x: ModelBuffer
  readonly y: ModelBuffer
  readonly xOffset: number
  readonly yOffset: number
  readonly uniformOffset: number
  /** The counts, or for an indirect dispatch the offset of the counts. */
  readonly counts: readonly number[] | number
}

/** A GPUDevice, with a model of the expected result of each call. */
export class DeviceModel {
  readonly device: GPUDevice
  readonly buffers: ModelBuffer[] = []
  readonly #pipeline: GPUComputePipeline
  readonly #layout: GPUBindGroupLayout
  readonly #counts: GPUBuffer
  readonly #uniforms: GPUBuffer
  readonly #log: (text: string) => void
  /** The checks of what each scope reported, in call order. */
  #checks: Promise<void>[] = []
  #lost = false

  private constructor(
    device: GPUDevice,
    pipeline: GPUComputePipeline,
    layout: GPUBindGroupLayout,
    log: (text: string) => void,
  ) {
    this.device = device
    this.#pipeline = pipeline
    this.#layout = layout
    this.#log = log
    this.#counts = device.createBuffer({ size: 64, usage: INDIRECT | COPY_DST })
    this.#uniforms = device.createBuffer({ size: 1024, usage: UNIFORM | COPY_DST })
    device.queue.writeBuffer(this.#counts, 0, Uint32Array.from(indirectCounts))
    for (const [i, factor] of factors.entries())
      device.queue.writeBuffer(this.#uniforms, 256 * i, Uint32Array.of(factor))
  }

  static async open(device: GPUDevice, log: (text: string) => void): Promise<DeviceModel> {
    const buffer = (binding: number, type: GPUBufferBindingType, hasDynamicOffset = false) =>
      ({ binding, visibility: 4, buffer: { type, hasDynamicOffset } }) as const
    const layout = device.createBindGroupLayout({
      entries: [buffer(0, 'read-only-storage'), buffer(1, 'storage'), buffer(2, 'uniform', true)],
    })
    const pipeline = device.createComputePipeline({
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module: device.createShaderModule({ code }) },
    })
    return new DeviceModel(device, pipeline, layout, log)
  }

  /** Makes a call that must be a validation error if `isWrong`, and must not be one otherwise. */
  #scoped<R>(what: string, isWrong: boolean, call: () => R): R {
    this.#log(`${what}${isWrong ? ' (wrong)' : ''}`)
    this.device.pushErrorScope('validation')
    const result = call()
    const wrong = isWrong && !this.#lost
    this.#checks.push(
      this.device.popErrorScope().then((error) => {
        if ((error !== null) !== wrong)
          throw new Error(`${what}: ${error === null ? 'no error' : `the error '${error.message}'`}`)
      }),
    )
    return result
  }

  /** Makes a call and checks that it throws an error named `expected`, or nothing if that is undefined. */
  #throws<R>(what: string, expected: string | undefined, call: () => R): R | undefined {
    let thrown: string | undefined
    let result: R | undefined
    try {
      result = call()
    } catch (error) {
      thrown = (error as Error).name
    }
    if (thrown !== expected) throw new Error(`${what} throws ${thrown}, not ${expected}`)
    return result
  }

  /** Waits for pending operations and compares their results with the model. */
  async settle(): Promise<void> {
    this.#log('settle')
    await Promise.all(this.buffers.map(({ pending }) => pending?.settled))
    await Promise.all(this.#checks.splice(0))
    for (const { buffer, state, size, usage } of this.buffers)
      if (buffer.mapState !== state || buffer.size !== size || buffer.usage !== usage)
        throw new Error(`a buffer is ${buffer.mapState}, not ${state}`)
  }

  createBuffer(size: number, usage: number, mappedAtCreation: boolean): void {
    const wrong = !(usages.right as readonly number[]).includes(usage) || size > 2 ** 28
    const what = `createBuffer ${size} ${usage} ${mappedAtCreation}`
    const range = mappedAtCreation && size % 4 !== 0 ? 'RangeError' : undefined
    this.#scoped(what, wrong && range === undefined, () => {
      const buffer = this.#throws(what, range, () =>
        this.device.createBuffer({ size, usage, mappedAtCreation }),
      )
      if (buffer !== undefined)
        this.buffers.push(new ModelBuffer(this, buffer, size, usage, !wrong, mappedAtCreation))
    })
  }

  /** Drops a buffer, so that it can be garbage-collected. */
  forget(index: number): void {
    const [forgotten] = this.buffers.splice(index, 1)
    if (forgotten!.pending !== undefined) this.#checks.push(forgotten!.pending.settled)
  }

  destroyBuffer(target: ModelBuffer): void {
    target.owner.#log('destroy')
    target.owner.#release(target)
    target.destroyed = true
    target.buffer.destroy()
  }

  unmap(target: ModelBuffer): void {
    target.owner.#log(`unmap ${target.state}`)
    const { ranges } = target
    target.owner.#release(target)
    target.buffer.unmap()
    for (const { arrayBuffer } of ranges)
      if (arrayBuffer.byteLength !== 0) throw new Error('a range is not detached')
  }

  #release(target: ModelBuffer): void {
    if (target.pending !== undefined) {
      target.pending.aborted = true
      this.#checks.push(target.pending.settled)
    }
    if (target.mode !== 'read' && target.valid)
      for (const { from, written } of target.ranges)
        if (written !== undefined) target.bytes.set(written, from)
    target.pending = undefined
    target.mapped = undefined
    target.ranges = []
  }

  writeBuffer(
    target: ModelBuffer,
    offset: number,
    data: Uint8Array<ArrayBuffer>,
    start: number,
    size: number | undefined,
  ): void {
    const length = size ?? data.length - start
    const thrown =
      length < 0 || start + length > data.length || length % 4 !== 0 ? 'OperationError' : undefined
    const wrong =
      target.owner !== this ||
      !target.isFree ||
      (target.usage & COPY_DST) === 0 ||
      offset % 4 !== 0 ||
      offset + length > target.size
    const what = `writeBuffer ${target.size} from ${offset}, ${length} bytes`
    this.#scoped(what, wrong && thrown === undefined, () => {
      this.#throws(what, thrown, () =>
        this.device.queue.writeBuffer(target.buffer, offset, data, start, size),
      )
    })
    if (thrown === undefined && !wrong) target.bytes.set(data.subarray(start, start + length), offset)
    // The caller may change the data again.
    data.fill(0xee)
  }

  map(target: ModelBuffer, mode: number, offset: number, size: number | undefined): void {
    const { owner } = target
    const length = size ?? Math.max(0, target.size - offset)
    const needed = mode === 1 ? MAP_READ : MAP_WRITE
    const wrong =
      !target.isFree ||
      target.state !== 'unmapped' ||
      (mode !== 1 && mode !== 2) ||
      (target.usage & needed) === 0 ||
      offset % 8 !== 0 ||
      length % 4 !== 0 ||
      offset + length > target.size
    const already = target.state === 'pending'
    const what = `mapAsync ${mode} ${offset} ${size} of ${target.size}`
    const promise = owner.#scoped(what, wrong, () => target.buffer.mapAsync(mode, offset, size))
    const pending = { aborted: false, isValid: !wrong, settled: Promise.resolve() }
    pending.settled = promise.then(
      () => {
        if (wrong || pending.aborted) throw new Error(`${what} resolves`)
        target.pending = undefined
        target.mapped = [offset, offset + length]
        target.mode = mode === 1 ? 'read' : 'write'
      },
      (error: Error) => {
        if (target.pending === pending) target.pending = undefined
        const expected = pending.aborted ? 'AbortError' : wrong ? 'OperationError' : 'nothing'
        if (error.name !== expected) throw new Error(`${what} rejects with ${error.name}, not ${expected}`)
      },
    )
    if (already) owner.#checks.push(pending.settled)
    // A mapped buffer stays mapped.
    else if (target.mapped === undefined) target.pending = pending
    else owner.#checks.push(pending.settled)
  }

  range(
    target: ModelBuffer,
    offset: number,
    size: number | undefined,
    bytes: (length: number) => Uint8Array<ArrayBuffer>,
  ): void {
    const length = size ?? Math.max(0, target.size - offset)
    const [from, to] = target.mapped ?? [0, -1]
    const wrong =
      offset % 8 !== 0 ||
      length % 4 !== 0 ||
      offset < from ||
      offset + length > to ||
      target.ranges.some((range) => offset < range.to && range.from < offset + length)
    const what = `getMappedRange ${offset} ${size}`
    target.owner.#log(what)
    const arrayBuffer = this.#throws(what, wrong ? 'OperationError' : undefined, () =>
      target.buffer.getMappedRange(offset, size),
    )
    if (arrayBuffer === undefined) return
    const view = new Uint8Array(arrayBuffer)
    const expected = target.valid ? target.bytes.subarray(offset, offset + length) : new Uint8Array(length)
    if (Buffer.compare(view, expected) !== 0) throw new Error(`${what} gives wrong bytes`)
    const written = bytes(length)
    view.set(written)
    target.ranges.push({ from: offset, to: offset + length, arrayBuffer, written })
  }

  encoder() {
    const encoder = this.device.createCommandEncoder()
    const buffers = new Set<ModelBuffer>()
    const effects: (() => void)[] = []
    let wrong = false
    let groups = 0
    let open = false
    /** Whether a command may use these bytes of a buffer. */
    const names = (b: ModelBuffer, usage: number, offset: number, length: number) =>
      b.owner === this && b.valid && (b.usage & usage) !== 0 && offset + length <= b.size
    const add = (right: boolean, used: readonly ModelBuffer[], effect: () => void) => {
      if (open || !right) {
        wrong = true
        return
      }
      for (const buffer of used) buffers.add(buffer)
      effects.push(effect)
    }
    return {
      copy: (source: ModelBuffer, from: number, target: ModelBuffer, to: number, length: number) => {
        this.#log(`copy ${source.size} ${from} to ${target.size} ${to}, ${length} bytes`)
        encoder.copyBufferToBuffer(source.buffer, from, target.buffer, to, length)
        const right =
          names(source, COPY_SRC, from, length) &&
          names(target, COPY_DST, to, length) &&
          (from % 4) + (to % 4) + (length % 4) === 0 &&
          source !== target
        add(right, [source, target], () => target.bytes.set(source.bytes.subarray(from, from + length), to))
      },
      clear: (target: ModelBuffer, offset: number, size: number | undefined) => {
        this.#log(`clear ${target.size} ${offset} ${size}`)
        encoder.clearBuffer(target.buffer, offset, size)
        const length = size ?? Math.max(0, target.size - offset)
        const right = names(target, COPY_DST, offset, length) && (offset % 4) + (length % 4) === 0
        add(right, [target], () => target.bytes.fill(0, offset, offset + length))
      },
      debugGroup: (isClosed: boolean) => {
        encoder.pushDebugGroup('group')
        if (isClosed) encoder.popDebugGroup()
        if (open) wrong = true
        else if (!isClosed) groups++
      },
      leaveOpen: () => {
        encoder.beginComputePass()
        if (open) wrong = true
        open = true
      },
      dispatch: (given: Dispatch) => {
        this.#log(`dispatch ${JSON.stringify({ ...given, x: given.x.size, y: given.y.size })}`)
        add(...this.#dispatch(encoder, given, names))
      },
      finish: (): Finished => {
        const isWrong = wrong || open || groups > 0
        const commandBuffer = this.#scoped('finish', isWrong, () => encoder.finish())
        return { commandBuffer, valid: !isWrong, buffers, effects }
      },
    }
  }

  /**
   * Encodes a dispatch in its own pass. Returns whether it is valid, which buffers it uses, and its effect.
   */
  #dispatch(
    encoder: GPUCommandEncoder,
    { x, y, xOffset, yOffset, uniformOffset, counts }: Dispatch,
    names: (b: ModelBuffer, usage: number, offset: number, length: number) => boolean,
  ): [right: boolean, used: ModelBuffer[], effect: () => void] {
    const bound = (b: ModelBuffer, offset: number) => ({
      buffer: b,
      offset,
      length: Math.max(0, b.size - offset),
    })
    const [from, to] = [bound(x, xOffset), bound(y, yOffset)]
    const isBound = [from, to].every(
      ({ buffer, offset, length }) =>
        names(buffer, STORAGE, offset, length) && offset % 256 === 0 && length > 0 && length % 4 === 0,
    )
    const resource = ({ buffer, offset }: typeof from) => ({ buffer: buffer.buffer, offset })
    const group = this.#scoped('createBindGroup', !isBound, () =>
      this.device.createBindGroup({
        layout: this.#layout,
        entries: [resource(from), resource(to), { buffer: this.#uniforms, size: 16 }].map((r, binding) => ({
          binding,
          resource: r,
        })),
      }),
    )
    const pass = encoder.beginComputePass()
    pass.setPipeline(this.#pipeline)
    pass.setBindGroup(0, group, [uniformOffset])
    if (typeof counts === 'number') pass.dispatchWorkgroupsIndirect(this.#counts, counts)
    else pass.dispatchWorkgroups(...(counts as [number, number, number]))
    this.#scoped('end', false, () => pass.end())
    const right =
      isBound &&
      x !== y &&
      uniformOffset % 256 === 0 &&
      uniformOffset + 16 <= 1024 &&
      (typeof counts === 'number' ? counts % 4 === 0 && counts + 12 <= 64 : counts.every((n) => n <= most))
    const [nx, ny, nz] = typeof counts === 'number' ? indirectCounts.slice(counts / 4) : counts
    return [right, [x, y], () => runKernel(from, to, factors[uniformOffset / 256]!, [nx!, ny!, nz!])]
  }

  submit(list: readonly Finished[]): void {
    const wrong =
      new Set(list).size < list.length ||
      list.some(({ valid, buffers }) => !valid || [...buffers].some((buffer) => !buffer.isFree))
    this.#scoped(`submit of ${list.length}`, wrong, () =>
      this.device.queue.submit(list.map(({ commandBuffer }) => commandBuffer)),
    )
    for (const finished of list) {
      if (!wrong) for (const effect of finished.effects) effect()
      finished.valid = false
    }
  }

  /** Compares the bytes of a buffer with COPY_SRC with the model. */
  async compareBytes({ buffer, bytes, usage, isFree, size }: ModelBuffer): Promise<void> {
    const length = Math.floor(size / 4) * 4
    if (!isFree || (usage & COPY_SRC) === 0 || length === 0) return
    const target = this.device.createBuffer({ size: length, usage: MAP_READ | COPY_DST })
    const encoder = this.device.createCommandEncoder()
    encoder.copyBufferToBuffer(buffer, 0, target, 0, length)
    this.device.queue.submit([encoder.finish()])
    await target.mapAsync(1)
    const actual = new Uint8Array(target.getMappedRange())
    const place = actual.findIndex((byte, i) => byte !== bytes[i])
    if (place >= 0)
      throw new Error(`byte ${place} of ${size} is ${actual[place]}, not ${bytes[place]} (usage ${usage})`)
    target.destroy()
  }

  /** Destroys the device: pending mappings are aborted, and later calls do nothing. */
  async destroy(): Promise<void> {
    this.#log('destroy the device')
    this.device.destroy()
    this.#lost = true
    for (const buffer of this.buffers) this.#release(buffer)
    const { reason } = await this.device.lost
    if (reason !== 'destroyed') throw new Error(`the device is lost: ${reason}`)
    this.createBuffer(16, 0, false)
    await Promise.all(this.#checks.splice(0))
    await this.device.queue.onSubmittedWorkDone()
    for (const { buffer } of this.buffers)
      if (buffer.mapState !== 'unmapped')
        throw new Error(`a buffer of a destroyed device is ${buffer.mapState}`)
  }
}

/** What the kernel does to the bytes of `to`. */
function runKernel(
  from: { readonly buffer: ModelBuffer; readonly offset: number; readonly length: number },
  to: { readonly buffer: ModelBuffer; readonly offset: number; readonly length: number },
  factor: number,
  counts: readonly number[],
): void {
  if (counts.some((count) => count > most)) return
  const words = ({ buffer, offset, length }: typeof from) =>
    new DataView(buffer.bytes.buffer, buffer.bytes.byteOffset + offset, length)
  const [x, y] = [words(from), words(to)]
  const invocations = counts.reduce((product, count) => product * count, threads)
  const last = from.length / 4 - 1
  for (let i = 0; i < Math.min(invocations, to.length / 4); i++) {
    const value = y.getUint32(4 * i, true) + factor * x.getUint32(4 * Math.min(i, last), true) + 1
    y.setUint32(4 * i, value % 2 ** 32, true)
  }
}
