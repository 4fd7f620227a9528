import { compileCode } from './ptx-code.ts'
import { PtxMemory, type Region } from './ptx-memory.ts'
import type { Code, Context, Launch, Thread, Wait } from './ptx-operands.ts'
import { type PtxModule, type PtxVariable, parsePtx } from './ptx-text.ts'

export { type PtxModule, parsePtx }

/** A launch of a kernel's PTX. */
export interface PtxRun extends Launch {
  /** The kernel's parameters: buffers, which the run changes, and numbers. */
  readonly parameters: readonly (Uint8Array | bigint)[]
  readonly dynamicSharedByteLength: number
  /** Threads take their turns by rising index or by falling index; the results of kernels without races agree. */
  readonly order?: 'rising' | 'falling'
  /** The most instructions of one block. */
  readonly mostSteps: number
}

const localByteLength = 32_768

/**
 * Runs a kernel, block by block, and each thread until it waits for others. Workgroup memory and local memory
 * start with garbage, and asynchronous copies happen when they are waited for. Supports integers, f32, f16,
 * calls, atomics, barriers, shuffles and votes, but no matrices; approximate functions are as exact as a double.
 *
 * @throws for unknown instructions, accesses outside of the memory that an instruction may touch, predicates
 * without a value, deadlocks, and more than `mostSteps` instructions.
 */
export function runPtx(module: PtxModule, name: string, run: PtxRun): void {
  const machine = new Machine(module, name, run)
  const [x, y, z] = run.grid
  for (let at = 0; at < x * y * z; at++)
    machine.runBlock([at % x, Math.floor(at / x) % y, Math.floor(at / x / y)])
  machine.returnBuffers()
}

class Machine implements Context {
  readonly launch: PtxRun
  readonly memory: PtxMemory
  readonly #module: PtxModule
  readonly #entry: string
  readonly #codes = new Map<string, Code>()
  readonly #addresses = new Map<string, number>()
  readonly #parameters: number[] = []
  readonly #buffers: { readonly region: Region; readonly bytes: Uint8Array }[] = []
  readonly #shared: Region[] = []
  readonly #locals: Region[] = []
  #steps = 0

  constructor(module: PtxModule, entry: string, run: PtxRun) {
    this.launch = run
    this.#module = module
    this.#entry = entry
    const [x, y, z] = run.block
    const source = module.functions.get(entry)
    if (source === undefined) throw new RangeError(`no kernel ${entry}`)
    const variables = [
      ...module.variables,
      ...[...module.functions.values()].flatMap(({ statements }) =>
        statements.flatMap((s) => ('variable' in s && s.variable.space === 'shared' ? [s.variable] : [])),
      ),
    ]
    const buffers = run.parameters.filter((parameter) => typeof parameter !== 'bigint')
    const bytes = [...variables, ...buffers].reduce((sum, { byteLength }) => sum + byteLength + 1024, 0)
    const spaces = bytes + x * y * z * (localByteLength + 512) + run.dynamicSharedByteLength
    this.memory = new PtxMemory(spaces + 64 * source.parameters.length + 16_384)
    for (const variable of variables) this.#addVariable(variable)
    for (const [i, parameter] of run.parameters.entries()) {
      const place = this.memory.add(8, 'param').start
      this.#parameters.push(place)
      if (typeof parameter === 'bigint') {
        this.memory.write(place, source.parameters[i]!.byteLength === 8 ? 'u64' : 'u32', parameter)
        continue
      }
      const region = this.memory.add(parameter.byteLength, 'global')
      this.memory.bytes(region).set(parameter)
      this.memory.write(place, 'u64', BigInt(region.start))
      this.#buffers.push({ region, bytes: parameter })
    }
    for (let rank = 0; rank < x * y * z; rank++)
      this.#locals.push(this.memory.add(localByteLength, `local ${rank}`))
  }

  #addVariable({ name, space, alignment, byteLength, values, elementByteLength }: PtxVariable): void {
    const isShared = space === 'shared'
    const size = isShared && byteLength === 0 ? this.launch.dynamicSharedByteLength : byteLength
    // Loads of vectors may include the padding behind a variable.
    const region = this.memory.add(Math.ceil(size / alignment) * alignment, isShared ? 'shared' : 'global')
    if (isShared) this.#shared.push(region)
    this.#addresses.set(name, region.start)
    for (const [i, value] of values.entries())
      this.memory.write(region.start + i * elementByteLength, `u${8 * elementByteLength}`, value)
  }

  addressOf(name: string): number | undefined {
    return this.#addresses.get(name)
  }

  call(thread: Thread, name: string, result: number, parameters: readonly number[]): void {
    let code = this.#codes.get(name)
    if (code === undefined) {
      const source = this.#module.functions.get(name)
      if (source === undefined) throw new RangeError(`no function ${name}`)
      code = compileCode(source, this)
      this.#codes.set(name, code)
    }
    const caller = thread.frames.at(-1)
    const end =
      caller === undefined ? this.#locals[thread.rank]!.start : caller.base + caller.code.frameByteLength
    const base = Math.ceil(end / 16) * 16
    thread.frames.push({ code, registers: [], base, parameters, result, next: 0 })
  }

  runBlock(workgroup: readonly [number, number, number]): void {
    for (const region of [...this.#shared, ...this.#locals]) {
      const bytes = this.memory.bytes(region)
      for (let i = 0; i < bytes.length; i++) bytes[i] = Math.imul(i, 0x9e3779b1) >>> 21
    }
    const [x, y, z] = this.launch.block
    const threads = Array.from({ length: x * y * z }, (_, rank): Thread => {
      const index = [rank % x, Math.floor(rank / x) % y, Math.floor(rank / x / y)] as const
      const thread: Thread = { index, rank, workgroup, frames: [], copies: [[]], wait: undefined }
      this.call(thread, this.#entry, 0, this.#parameters)
      return thread
    })
    const order = this.launch.order === 'falling' ? threads.toReversed() : threads
    this.#steps = 0
    for (;;) {
      for (const thread of order) this.#runThread(thread)
      const left = order.filter(({ frames }) => frames.length > 0)
      if (left.length === 0) return
      if (!resumeWarps(left) && !resumeBlock(left) && !resumeActive(left)) throw new Error('a deadlock')
    }
  }

  #runThread(thread: Thread): void {
    for (;;) {
      const frame = thread.frames.at(-1)
      if (frame === undefined || thread.wait !== undefined) return
      if (++this.#steps > this.launch.mostSteps)
        throw new RangeError(`the kernel takes more than ${this.launch.mostSteps} instructions`)
      const step = frame.code.steps[frame.next++]
      if (step === undefined) thread.frames.pop()
      else step(thread, frame)
    }
  }

  /** Writes what the kernel left in its buffers. */
  returnBuffers(): void {
    for (const { region, bytes } of this.#buffers) bytes.set(this.memory.bytes(region))
  }
}

/** Executes operations of warps for which all lanes of the mask have come. */
function resumeWarps(threads: readonly Thread[]): boolean {
  let resumed = false
  for (const warp of warpsOf(threads)) {
    const waiting = warp.filter((thread): thread is Waiting<'warp'> => thread.wait?.kind === 'warp')
    for (const { wait } of waiting) {
      const lanes = warp.filter(({ rank }) => (wait.mask >> (rank & 31)) & 1)
      const isSame = (other: Wait | undefined) =>
        other?.kind === 'warp' && other.mask === wait.mask && other.name === wait.name
      if (!lanes.every((lane) => isSame(lane.wait))) continue
      const together = lanes as Waiting<'warp'>[]
      const values = new Map(together.map((lane) => [lane.rank & 31, lane.wait.value]))
      const waits = together.map((lane) => lane.wait)
      for (const lane of together) (lane as Thread).wait = undefined
      for (const { done } of waits) done(values)
      resumed = true
      break
    }
  }
  return resumed
}

type Waiting<Kind> = Thread & { readonly wait: Wait & { readonly kind: Kind } }

function warpsOf(threads: readonly Thread[]): Thread[][] {
  const warps = new Map<number, Thread[]>()
  for (const thread of threads) {
    const warp = thread.rank >> 5
    if (!warps.has(warp)) warps.set(warp, [])
    warps.get(warp)!.push(thread)
  }
  return [...warps.values()]
}

function resumeBlock(threads: readonly Thread[]): boolean {
  if (!threads.every(({ wait }) => wait?.kind === 'barrier')) return false
  for (const thread of threads) thread.wait = undefined
  return true
}

/** The lanes of one warp that have come to one place are those that are active there. */
function resumeActive(threads: readonly Thread[]): boolean {
  for (const warp of warpsOf(threads)) {
    const first = warp.find(({ wait }) => wait?.kind === 'active')?.wait
    if (first?.kind !== 'active') continue
    const here = warp.filter(({ wait }) => wait?.kind === 'active' && wait.site === first.site)
    const lanes = here.reduce((mask, { rank }) => mask | (1 << (rank & 31)), 0)
    for (const thread of here) {
      if (thread.wait?.kind === 'active') thread.wait.done(lanes)
      thread.wait = undefined
    }
    return true
  }
  return false
}
