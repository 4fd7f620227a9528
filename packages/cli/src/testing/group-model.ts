import {
  type Backend,
  type DeviceBuffer,
  type DeviceGroup,
  type GpuErrorCode,
  type HostBuffer,
  isGpuError,
  type Kernel,
  openGroup,
  type Program,
  type Recorder,
} from '@tandem-gpu/core'
import fc from 'fast-check'

/** The contents of a buffer, if known: they are not after an aborted run. */
interface Memory {
  values: Uint32Array | undefined
}

type Operation = (read: (memory: Memory) => Uint32Array | undefined) => void

interface ModelBuffer {
  readonly buffer: DeviceBuffer<'u32'>
  readonly memory: Memory
}
interface ModelHost {
  readonly host: HostBuffer<'u32'>
  readonly memory: Memory
}
interface ModelProgram {
  readonly program: Program
  readonly operations: readonly Operation[]
  readonly written: readonly Memory[]
}

interface Expected<T> {
  readonly codes?: readonly GpuErrorCode[]
  readonly mayWork?: boolean
  /** Receives the result. */
  readonly take?: (result: T) => void
}

/**
 * A group and the expected contents of its objects: calls take effect in order, whether they are awaited or
 * not.
 */
export class GroupModel {
  readonly group: DeviceGroup
  readonly kernel: Kernel
  readonly buffers: ModelBuffer[] = []
  readonly hosts: ModelHost[] = []
  readonly programs: ModelProgram[] = []
  readonly kernels: Kernel[] = []
  /** Calls that are not awaited yet. */
  readonly pending = new Set<Promise<void>>()
  readonly problems: string[] = []
  destroyed = false

  private constructor(group: DeviceGroup, kernel: Kernel) {
    this.group = group
    this.kernel = kernel
  }

  static async open(backend: Backend): Promise<GroupModel> {
    const group = await openGroup({ backends: [backend], devices: 2, virtual: true, label: 'model' })
    const model = new GroupModel(group, await group.compile({ wgsl: accumulate }))
    for (let i = 0; i < 4; i++) {
      await steps.allocate(model, { a: i % 2, b: 64 + i, c: 0, wait: true })
      await steps.write(model, { a: i, b: i, c: 0, wait: true })
    }
    await steps.allocateHost(model, { a: 0, b: 64, c: 0, wait: true })
    return model
  }

  /**
   * Makes a call and checks the outcome: an error must be a GpuError with one of the codes. If there are
   * codes, an error is required unless `mayWork` is true.
   */
  call<T>(
    what: string,
    call: () => T | Promise<T>,
    { codes = [], mayWork = codes.length === 0, take }: Expected<T> = {},
  ): Promise<void> {
    const { destroyed } = this
    const judged = (async () => {
      try {
        const result = await call()
        if (!mayWork && !destroyed)
          this.problems.push(`${what} works, and should reject with ${codes.join(' or ')}`)
        take?.(result)
      } catch (error) {
        if (!isGpuError(error)) this.problems.push(`${what}: ${(error as Error)?.stack ?? String(error)}`)
        else if (!codes.includes(error.code) && !(destroyed && error.code === 'device-lost'))
          this.problems.push(`${what}: ${error.code}: ${error.message}`)
        else if (error.code !== 'compilation' && !/\w \w.*\.$/s.test(error.message))
          this.problems.push(`${what}: no sentence: ${error.message}`)
      }
    })()
    this.pending.add(judged)
    void judged.then(() => this.pending.delete(judged))
    return judged
  }

  async idle(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending)
  }

  /** Ends the group and returns everything that was wrong since it was opened. */
  async end(): Promise<readonly string[]> {
    // The final contents of every buffer show the effect of all earlier runs.
    for (const a of this.buffers.keys()) steps.read(this, { a, b: 0, c: 0, wait: true })
    await this.idle()
    const kept = [
      ...this.buffers.map(({ buffer }) => buffer),
      ...this.hosts.map(({ host }) => host),
      ...this.programs.map(({ program }) => program),
      ...this.kernels,
      this.kernel,
    ].filter((resource) => !('destroyed' in resource && resource.destroyed))
    // The end of a group frees everything. Half of the groups destroy everything before that; the others must
    // name what is left.
    const tidy = this.buffers.length % 2 === 0 && !this.destroyed
    if (tidy) for (const resource of kept.splice(0)) resource.destroy()
    if (tidy) this.#requireNothingLive('once all objects are destroyed')
    const { leaks } = await this.group.destroy()
    if (!this.destroyed && leaks.length !== kept.length)
      this.problems.push(`${kept.length} objects are left, and the report names ${JSON.stringify(leaks)}`)
    for (const resource of kept) resource.destroy()
    this.#requireNothingLive('at the end')
    return this.problems
  }

  #requireNothingLive(when: string): void {
    const live = Object.entries(this.group.live()).filter(([, count]) => count !== 0)
    if (live.length > 0) this.problems.push(`live ${when}: ${live.join()}`)
  }
}

/** y = 3 y + x + addend, on u32. */
const accumulate = `
struct Params { x_base: u32, y_base: u32, y_length: u32, addend: u32 }
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.y_length) { return; }
  let i = params.y_base + id.x;
  y[i] = 3u * y[i] + x[params.x_base + id.x] + params.addend;
}`

/** Arguments that every call must refuse. */
const garbage: readonly unknown[] = [
  null,
  Number.NaN,
  -1,
  1.5,
  '2',
  true,
  7n,
  Symbol('x'),
  {},
  Object.create(null),
  [],
  [1, Symbol('y')],
  () => 'x',
  Promise.resolve(1),
  new Uint8Array(3),
  new Float32Array(5),
  new Proxy({}, {}),
]

/** A step. Its effect depends on a few numbers, which are taken modulo the number of choices. */
interface Numbers {
  readonly a: number
  readonly b: number
  readonly c: number
  readonly wait: boolean
}

type Step = (model: GroupModel, numbers: Numbers) => Promise<void> | void

const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)]
const noise = (length: number, seed: number) =>
  Uint32Array.from({ length }, (_, i) => Math.imul(i + 1, seed + 2654435761) >>> 0)

const steps = {
  allocate(model, { a, b }) {
    const length = b % 70
    return model.call('allocate', () => pick(model.group.devices, a)!.allocate('u32', length), {
      take: (buffer) => model.buffers.push({ buffer, memory: { values: new Uint32Array(length) } }),
    })
  },
  allocateHost(model, { b }) {
    const length = b % 70
    return model.call('allocateHost', () => model.group.allocateHost('u32', length), {
      take(host) {
        host.array.fill(0)
        model.hosts.push({ host, memory: { values: new Uint32Array(length) } })
      },
    })
  },
  compile(model, { a }) {
    if (a % 3 === 0)
      return model.call('compile', () => model.group.compile({ wgsl: '@compute fn main() {' }), {
        codes: ['compilation'],
      })
    return model.call('compile', () => model.group.compile({ wgsl: accumulate }), {
      take: (kernel) => model.kernels.push(kernel),
    })
  },
  write(model, { a, b, wait }) {
    const target = pick(model.buffers, a)
    if (target === undefined) return
    const { buffer, memory } = target
    const data = noise(buffer.length, b)
    const codes = buffer.destroyed ? (['validation'] as const) : []
    const writing = model.call('write', () => model.group.queue.write(buffer, data), { codes })
    if (codes.length === 0 && !model.destroyed) memory.values = data.slice()
    data.fill(99) // The contents of the array at the time of the call are written.
    if (wait) return writing
  },
  read(model, { a, wait }) {
    const source = pick(model.buffers, a)
    if (source === undefined) return
    const { buffer, memory } = source
    const expected = memory.values?.slice()
    const reading = model.call('read', () => model.group.queue.read(buffer), {
      codes: buffer.destroyed ? ['validation'] : [],
      take(values) {
        if (expected !== undefined && values.join() !== expected.join())
          model.problems.push(`read gives ${values.join()}, not ${expected.join()}`)
      },
    })
    if (wait) return reading
  },
  record(model, { a, b, c }) {
    const operations: Operation[] = []
    const written: Memory[] = []
    let destroyedUsed = false
    const note = (
      resources: readonly { readonly destroyed: boolean }[],
      target: Memory,
      operation: Operation,
    ) => {
      destroyedUsed ||= resources.some(({ destroyed }) => destroyed)
      operations.push(operation)
      written.push(target)
    }
    return model.call(
      'record',
      () =>
        model.group.record((r) => {
          for (let i = 0; i < 1 + (c % 4); i++) {
            const one = pick(model.buffers, a + i)
            const two = pick(model.buffers, b + 2 * i)
            const host = pick(model.hosts, c + i)
            if (one === undefined || two === undefined) continue
            const length = Math.min(one.buffer.length, two.buffer.length, host?.host.length ?? 70)
            if (length === 0) continue
            const kind = (a + b + c + i) % 4
            if (kind === 0) {
              r.fill(one.buffer.slice(0, length), i)
              note([one.buffer], one.memory, (of) => of(one.memory)?.fill(i, 0, length))
            } else if (kind === 1 && host !== undefined) {
              const down = b % 2 === 0
              const from = down ? one : host
              const to = down ? host : one
              if (down) r.download(one.buffer.slice(0, length), host.host.slice(0, length))
              else r.upload(host.host.slice(0, length), one.buffer.slice(0, length))
              note([one.buffer, host.host], to.memory, (of) => copy(of, from.memory, to.memory, length))
            } else if (one !== two && kind === 2) {
              r.copy(one.buffer.slice(0, length), two.buffer.slice(0, length))
              note([one.buffer, two.buffer], two.memory, (of) => copy(of, one.memory, two.memory, length))
            } else if (one !== two && one.buffer.device === two.buffer.device) {
              const args = { x: one.buffer.slice(0, length), y: two.buffer.slice(0, length), addend: i }
              r.dispatch(model.kernel, { workgroups: 2, args })
              note([one.buffer, two.buffer], two.memory, (of) => {
                const x = of(one.memory)
                const y = of(two.memory)
                if (x === undefined) two.memory.values = undefined
                else if (y !== undefined)
                  for (let k = 0; k < length; k++) y[k] = (Math.imul(3, y[k]!) + x[k]! + i) >>> 0
              })
            }
          }
        }),
      {
        codes: anyDestroyed(model) ? ['validation'] : [],
        mayWork: true,
        take(program) {
          if (destroyedUsed) model.problems.push('record takes what is destroyed')
          model.programs.push({ program, operations, written })
        },
      },
    )
  },
  run(model, { a, b, c, wait }) {
    const recorded = pick(model.programs, a)
    if (recorded === undefined) return
    const { program, operations, written } = recorded
    const gone = 'destroyed' in program && program.destroyed === true
    const times = b % 4
    const controller = new AbortController()
    const abort = c % 5
    if (abort === 0) controller.abort()
    const codes: GpuErrorCode[] = [
      ...(gone ? (['validation'] as const) : []),
      ...(abort < 2 ? (['aborted'] as const) : []),
    ]
    const running = model.call(
      'run',
      () => model.group.queue.run(program, times, { signal: controller.signal }),
      {
        codes,
        mayWork: !gone && abort !== 0,
      },
    )
    if (!gone && !model.destroyed) {
      if (abort === 1) {
        setTimeout(() => controller.abort(), 0)
        for (const memory of written) memory.values = undefined
      } else if (abort > 1)
        for (let i = 0; i < times; i++)
          for (const operation of operations) operation((memory) => memory.values)
    }
    if (wait) return running
  },
  destroy(model, { a, b }) {
    const kinds = [
      model.buffers.map(({ buffer }) => buffer),
      model.hosts.map(({ host }) => host),
      model.programs.map(({ program }) => program),
      model.kernels,
    ]
    const resource = pick<{ destroy(): void }>(pick<readonly { destroy(): void }[]>(kinds, a)!, b)
    if (resource !== undefined) return model.call('destroy', () => resource.destroy())
  },
  garbage(model, { a, b, c, wait }) {
    const g = pick(garbage, b) as never
    const h = pick(garbage, c) as never
    const buffer = (pick(model.buffers, c)?.buffer ?? g) as DeviceBuffer<'u32'>
    const program = (pick(model.programs, c)?.program ?? g) as Program
    const { group } = model
    const [device] = group.devices
    const calls: readonly (readonly [string, () => unknown])[] = [
      ['allocate(garbage)', () => device!.allocate(g, h)],
      ['allocate(u32, garbage)', () => device!.allocate('u32', g)],
      ['allocate(u32, 1, garbage)', () => device!.allocate('u32', [1, h], g)],
      ['allocateHost(garbage)', () => group.allocateHost(g, h)],
      ['allocateHost(u32, garbage)', () => group.allocateHost('u32', 1, { device: g })],
      ['canAccessPeer(garbage)', () => group.canAccessPeer(g, h)],
      ['compile(garbage)', () => group.compile(g)],
      ['compile({ garbage })', () => group.compile({ wgsl: g, constants: h })],
      ['record(garbage)', () => group.record(g)],
      ['record(…, garbage)', () => group.record(() => {}, { schedule: g })],
      ['record(async)', () => group.record((async () => Promise.reject(new Error('lost'))) as () => void)],
      ['fill(garbage)', () => group.record((r) => r.fill(g, h))],
      ['fill(buffer, garbage)', () => group.record((r) => r.fill(buffer, g))],
      ['copy(garbage)', () => group.record((r) => r.copy(buffer, g, h))],
      ['upload(garbage)', () => group.record((r) => r.upload(g, h))],
      ['download(garbage)', () => group.record((r) => r.download(buffer, h))],
      ['dispatch(garbage)', () => group.record((r) => r.dispatch(g, h))],
      ['dispatch(kernel, garbage)', () => group.record((r) => r.dispatch(model.kernel, g))],
      [
        'dispatch(kernel, { garbage })',
        () => group.record((r) => r.dispatch(model.kernel, { workgroups: g, args: h })),
      ],
      [
        'dispatch(kernel, { args: garbage })',
        () =>
          group.record((r) =>
            r.dispatch(model.kernel, { workgroups: 1, args: { x: buffer, y: g, addend: h } }),
          ),
      ],
      ['record that destroys', () => group.record((r) => destroyUsed(r.scratch(0, 'u32', 4), r))],
      ['scratch(garbage)', () => group.record((r) => void r.scratch(g, 'u32', h))],
      ['parameter(garbage)', () => group.record((r) => void r.parameter('p', g, h))],
      ['fence(garbage)', () => group.record((r) => r.fence(g))],
      ['write(garbage)', () => group.queue.write(g, h)],
      ['write(buffer, garbage)', () => group.queue.write(buffer, g)],
      ['read(garbage)', () => group.queue.read(g)],
      ['read(buffer, garbage)', () => group.queue.read(buffer, { into: g })],
      ['read(buffer, { to: garbage })', () => group.queue.read(buffer, { to: g })],
      ['run(garbage)', () => group.queue.run(g)],
      ['run(program, garbage)', () => group.queue.run(program, g)],
      ['run(program, 1, garbage)', () => group.queue.run(program, 0, { signal: g, parameters: h })],
      ['slice(garbage)', () => buffer.slice(g, h)],
      ['reshape(garbage)', () => buffer.reshape(g, h)],
      ['block(garbage)', () => buffer.block(0, g, 1, h)],
    ]
    const [name, call] = pick(calls, a)!
    if (/^(slice|reshape|block)/.test(name) && model.buffers.length === 0) return
    const judged = model.call(name, () => destroyMade(call), {
      codes: ['validation', 'too-large', 'compilation', 'out-of-memory'],
      mayWork: true,
    })
    if (wait) return judged
  },
  idle: (model) => model.idle(),
  async destroyGroup(model, { a }) {
    if (a % 8 !== 0) return
    model.destroyed = true
    const [first, second] = await Promise.all([model.group.destroy(), model.group.destroy()])
    if (first !== second) model.problems.push('two calls of destroy give two reports')
  },
} satisfies Record<string, Step>

function destroyUsed(scratch: DeviceBuffer<'u32'>, recorder: Recorder): void {
  recorder.fill(scratch, 1)
  scratch.destroy()
}

/** Garbage may happen to be valid; a resulting object is destroyed again. */
async function destroyMade(call: () => unknown): Promise<void> {
  const made = await call()
  if (made !== null && typeof made === 'object' && 'destroy' in made) (made as { destroy(): void }).destroy()
}

const anyDestroyed = ({ buffers, hosts }: GroupModel) =>
  buffers.some(({ buffer }) => buffer.destroyed) || hosts.some(({ host }) => host.destroyed)

function copy(of: Parameters<Operation>[0], from: Memory, to: Memory, length: number): void {
  const source = of(from)
  const target = of(to)
  if (source === undefined) to.values = undefined
  else target?.set(source.subarray(0, length))
}

class Command implements fc.AsyncCommand<object, GroupModel> {
  readonly #name: keyof typeof steps
  readonly #numbers: Numbers

  constructor(name: keyof typeof steps, numbers: Numbers) {
    this.#name = name
    this.#numbers = numbers
  }

  check(): boolean {
    return true
  }

  async run(_: object, model: GroupModel): Promise<void> {
    await (steps[this.#name] as Step)(model, this.#numbers)
    if (model.problems.length > 0) throw new Error(model.problems.join('\n'))
  }

  toString(): string {
    const { a, b, c, wait } = this.#numbers
    return `${this.#name}(${a}, ${b}, ${c}${wait ? ', awaited' : ''})`
  }
}

const frequent: Partial<Record<keyof typeof steps, number>> = {
  write: 2,
  read: 2,
  record: 5,
  run: 7,
  garbage: 3,
}

const numbers = fc.record({ a: fc.nat(999), b: fc.nat(999), c: fc.nat(999), wait: fc.boolean() })

/** Sequences of calls, valid and invalid, awaited and not. */
export const callSequences = fc.commands(
  (Object.keys(steps) as (keyof typeof steps)[]).flatMap((name) =>
    Array.from({ length: frequent[name] ?? 1 }, () => numbers.map((n) => new Command(name, n))),
  ),
  { maxCommands: 60, size: 'max' },
)
