import {
  type DeviceGroup,
  elementArray,
  type HostBuffer,
  type HostView,
  type Program,
  type Schedule,
} from '@tandem-gpu/core'
import { characterOf } from '../device-character.ts'
import type { JacobiField } from './jacobi-field.ts'
import { fusedSweeps, type JacobiKernels } from './jacobi-kernels.ts'
import { passCount, recordSweeps } from './record-jacobi.ts'

/** Sweeps in one recorded program at most, but for an odd check interval, which takes two of them. */
const longestBody = 128

export interface IterateOptions {
  readonly iterations: number
  /** Stop once the largest change of a cell in one sweep is at most this. Looked at every `residualEvery` sweeps, one interval late. */
  readonly tolerance?: number
  readonly residualEvery: number
  readonly schedule: Schedule
  readonly signal?: AbortSignal
  /** After every interval that is waited for; with a fixed number of iterations in about 20 steps on software, at the end on hardware. */
  readonly onProgress?: (progress: { iteration: number; residual: number }) => void
}

export interface IterateResult {
  /** Sweeps done. */
  readonly iterations: number
  /** The copy that holds the state. The other holds the state `behind` sweeps before. */
  readonly parity: 0 | 1
  readonly behind: number
  /** Largest change of a cell in the last sweep; absent where no sweep ran. */
  readonly residual?: number
  /** The first look at which the tolerance held: the state is at most one interval further. */
  readonly converged?: { readonly iteration: number; readonly residual: number }
  readonly seconds: number
  readonly clock: 'device' | 'host'
}

/** Runs sweeps from copy 0 of a field that holds a state. Keeps its programs, so that a second call records nothing. */
export class JacobiIteration {
  readonly #field: JacobiField
  readonly #kernels: JacobiKernels
  readonly #options: IterateOptions
  readonly #residuals: HostBuffer<'u32'>
  readonly #programs = new Map<string, Program>()
  readonly #sweeps = new Map<Program, number>()

  constructor(field: JacobiField, kernels: JacobiKernels, options: IterateOptions) {
    this.#field = field
    this.#kernels = kernels
    this.#options = options
    this.#residuals = field.group.allocateHost('u32', 2 * field.blocks.length, { label: 'residuals' })
  }

  get #group(): DeviceGroup {
    return this.#field.group
  }

  /** The program that repeats in a fixed number of iterations: for plans, traces and timing. */
  body(): Program {
    const { iterations, residualEvery } = this.#options
    const interval = Math.min(residualEvery, longestBody)
    return this.#program(Math.max(1, Math.min(this.#evenBody(interval), iterations)), 0, 0, interval)
  }

  /** Sweeps that end in the copy they began in: one interval or two. */
  #evenBody(interval: number): number {
    return this.#flips(interval, interval, 0) === 0 ? interval : 2 * interval
  }

  /** The copy that holds the state after sweeps that begin at `parity`, with a look at the residual after every `every` (0: the last only). */
  #flips(sweeps: number, every: number, parity: 0 | 1): 0 | 1 {
    const fused = this.#kernels.fused !== undefined
    const looks = new Map<number, true>()
    // Bodies of long intervals are whole passes, so that their number of passes is that of the interval.
    for (let sweep = every; every > 0 && sweep < sweeps; sweep += every) looks.set(sweep, true)
    return ((parity + passCount(sweeps, looks, fused)) % 2) as 0 | 1
  }

  /** Sweeps in the last pass of an interval. */
  #behind(length: number): number {
    return this.#kernels.fused !== undefined && length >= fusedSweeps ? fusedSweeps : 1
  }

  async run(): Promise<IterateResult> {
    const { iterations, tolerance } = this.#options
    if (iterations === 0 || this.#field.blocks.length === 0)
      return { iterations: 0, parity: 0, behind: 0, seconds: 0, clock: 'host' }
    return tolerance === undefined ? this.#fixed() : this.#untilTolerance(tolerance)
  }

  destroy(): void {
    for (const program of this.#programs.values()) program.destroy()
    this.#residuals.destroy()
  }

  async #fixed(): Promise<IterateResult> {
    const { iterations, residualEvery, onProgress } = this.#options
    const interval = Math.min(residualEvery, iterations)
    const reports = onProgress ? characterOf(this.#group).progressReports : 1
    const runs: [Program, number][] = []
    let parity: 0 | 1 = 0
    if (interval <= longestBody) {
      const even = this.#evenBody(interval)
      const times = Math.floor(iterations / even)
      // One call runs all of it; only slow devices stop on the way to say how far they are.
      const pieces = Math.min(reports, times)
      for (let piece = 0; piece < pieces; piece++) {
        const share = Math.floor(((piece + 1) * times) / pieces) - Math.floor((piece * times) / pieces)
        runs.push([this.#program(even, 0, 0, interval), share])
      }
      const rest = iterations % even
      if (rest > 0) runs.push([this.#program(rest, 0, 0, interval), 1])
      parity = this.#flips(rest, interval, 0)
    } else
      for (let done = 0; done < iterations; done += interval) {
        const length = Math.min(interval, iterations - done)
        runs.push(...this.#interval(length, parity, 0))
        parity = this.#flips(length, 0, parity)
      }
    let total = { seconds: 0, clock: 'device' as 'device' | 'host' }
    if (onProgress && reports > 1) {
      let iteration = 0
      for (const [program, times] of runs) {
        const { seconds, clock } = await this.#runAll([[program, times]])
        total = { seconds: total.seconds + seconds, clock: clock === 'host' ? 'host' : total.clock }
        iteration += times * this.#sweeps.get(program)!
        onProgress({ iteration, residual: this.#residual(0) })
      }
    } else {
      total = await this.#runAll(runs)
      onProgress?.({ iteration: iterations, residual: this.#residual(0) })
    }
    const { seconds, clock } = total
    return {
      iterations,
      parity,
      behind: this.#behind(iterations % interval || interval),
      residual: this.#residual(0),
      seconds,
      clock,
    }
  }

  /** Each interval starts before the residual of the one before is looked at, so the devices never wait for the host. */
  async #untilTolerance(tolerance: number): Promise<IterateResult> {
    const { iterations, residualEvery, onProgress } = this.#options
    const start = performance.now()
    let enqueued = 0
    let last = 0
    let parity: 0 | 1 = 0
    let slot: 0 | 1 = 0
    const enqueue = () => {
      const length = Math.min(residualEvery, iterations - enqueued)
      const runs = this.#interval(length, parity, slot)
      parity = this.#flips(length, 0, parity)
      last = length
      enqueued += length
      const entry = { iteration: enqueued, slot, done: this.#runAll(runs) }
      // A failure is reported when the entry's turn comes.
      entry.done.catch(() => {})
      slot = slot === 0 ? 1 : 0
      return entry
    }
    let current = enqueue()
    let converged: IterateResult['converged']
    let residual: number
    for (;;) {
      const next = enqueued < iterations && !converged ? enqueue() : undefined
      await current.done
      residual = this.#residual(current.slot)
      onProgress?.({ iteration: current.iteration, residual })
      if (!converged && residual <= tolerance) converged = { iteration: current.iteration, residual }
      if (!next) break
      current = next
    }
    return {
      iterations: enqueued,
      parity,
      behind: this.#behind(last),
      residual,
      ...(converged && { converged }),
      seconds: (performance.now() - start) / 1e3,
      clock: 'host',
    }
  }

  /** `length` sweeps with a look at the residual after the last. */
  #interval(length: number, parity: 0 | 1, slot: 0 | 1): [Program, number][] {
    if (length <= longestBody) return [[this.#program(length, parity, slot, length), 1]]
    const times = Math.floor((length - 1) / longestBody)
    return [
      [this.#program(longestBody, parity, slot, 0), times],
      [this.#program(length - times * longestBody, parity, slot, length - times * longestBody), 1],
    ]
  }

  /** `sweeps` sweeps from copy `parity`, the residual after every `every` of them (0: never) and after the last. */
  #program(sweeps: number, parity: 0 | 1, slot: 0 | 1, every: number): Program {
    const key = `${sweeps} ${parity} ${slot} ${every}`
    let program = this.#programs.get(key)
    if (!program) {
      const count = this.#field.blocks.length
      const target = this.#residuals.slice(slot * count, count)
      const residuals = new Map<number, HostView<'u32'>>()
      if (every > 0) {
        for (let sweep = every; sweep < sweeps; sweep += every) residuals.set(sweep, target)
        residuals.set(sweeps, target)
      }
      program = this.#group.record(
        (recorder) => recordSweeps(recorder, this.#field, this.#kernels, { sweeps, parity, residuals }),
        { schedule: this.#options.schedule, label: `jacobi ${sweeps} sweeps` },
      )
      this.#programs.set(key, program)
      this.#sweeps.set(program, sweeps)
    }
    return program
  }

  async #runAll(runs: [Program, number][]): Promise<{ seconds: number; clock: 'device' | 'host' }> {
    const { signal } = this.#options
    for (const [program] of runs) await program.prepare()
    const results = await Promise.all(
      runs
        .filter(([, times]) => times > 0)
        .map(([program, times]) => this.#group.queue.run(program, times, signal ? { signal } : {})),
    )
    return {
      seconds: results.reduce((sum, result) => sum + result.seconds, 0),
      clock: results.every((result) => result.clock === 'device') ? 'device' : 'host',
    }
  }

  #residual(slot: 0 | 1): number {
    const count = this.#field.blocks.length
    const bits = elementArray('u32', 1)
    for (const value of this.#residuals.array.subarray(slot * count, (slot + 1) * count))
      bits[0] = Math.max(bits[0]!, value)
    return new Float32Array(bits.buffer)[0]!
  }
}
