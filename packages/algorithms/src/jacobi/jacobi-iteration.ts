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
import { ResidualTree } from './residual-tree.ts'

/** One recorded program holds at most this many sweeps, or twice as many where the check interval is odd. */
const longestBody = 128

export interface IterateOptions {
  readonly iterations: number
  /** Stop once the largest change of a cell in one sweep is at most this. The change is read every `residualEvery` sweeps, while the next interval already runs. */
  readonly tolerance?: number | undefined
  readonly residualEvery: number
  readonly schedule: Schedule
  readonly signal?: AbortSignal | undefined
  /** Called after every interval that the host waits for. A fixed number of iterations reports about 20 times on software, and once, at the end, on hardware. */
  readonly onProgress?: ((progress: { iteration: number; residual: number }) => void) | undefined
}

export interface IterateResult {
  /** The number of sweeps that were done. */
  readonly iterations: number
  /** The copy that holds the state. The other copy holds the state of `behind` sweeps earlier. */
  readonly parity: 0 | 1
  readonly behind: number
  /** Largest change of a cell in the last sweep; absent where no sweep ran. */
  readonly residual?: number
  /** The first check at which the tolerance held. The state may be one interval further. */
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
  readonly #residualTree: ResidualTree | undefined
  readonly #programs = new Map<string, Program>()
  readonly #sweeps = new Map<Program, number>()

  constructor(field: JacobiField, kernels: JacobiKernels, options: IterateOptions) {
    this.#field = field
    this.#kernels = kernels
    this.#options = options
    this.#residuals = field.group.allocateHost('u32', 2 * field.blocks.length, { label: 'residuals' })
    this.#residualTree =
      field.group.rankCount > 1 && field.blocks.length > 1
        ? new ResidualTree(field, 2 * field.blocks.length)
        : undefined
  }

  get #group(): DeviceGroup {
    return this.#field.group
  }

  /** The program that a fixed number of iterations repeats; callers print, trace and time it. */
  body(): Program {
    const { iterations, residualEvery } = this.#options
    const interval = Math.min(residualEvery, longestBody)
    return this.#program(Math.max(1, Math.min(this.#evenBody(interval), iterations)), 0, 0, interval)
  }

  /** The number of sweeps, one interval or two, after which the state is in the same copy as before. */
  #evenBody(interval: number): number {
    return this.#flips(interval, interval, 0) === 0 ? interval : 2 * interval
  }

  /** The copy that holds the state after `sweeps` sweeps from copy `parity`, where the residual is read every `every` sweeps (0: after the last only). */
  #flips(sweeps: number, every: number, parity: 0 | 1): 0 | 1 {
    const fused = this.#kernels.fused !== undefined
    const looks = new Map<number, true>()
    // A long interval is cut into bodies of whole passes, so that it has as many passes as its bodies together.
    for (let sweep = every; every > 0 && sweep < sweeps; sweep += every) looks.set(sweep, true)
    return ((parity + passCount(sweeps, looks, fused)) % 2) as 0 | 1
  }

  /** The number of sweeps in the last pass of an interval. */
  #behind(length: number): number {
    return this.#kernels.fused !== undefined && length >= fusedSweeps ? fusedSweeps : 1
  }

  async run(): Promise<IterateResult> {
    const { iterations, tolerance } = this.#options
    if (iterations === 0) return { iterations: 0, parity: 0, behind: 0, seconds: 0, clock: 'host' }
    if (this.#field.blocks.length === 0) return this.#boundaryAlone()
    return tolerance === undefined ? this.#fixed() : this.#untilTolerance(tolerance)
  }

  destroy(): void {
    for (const program of this.#programs.values()) program.destroy()
    this.#residuals.destroy()
    this.#residualTree?.destroy()
  }

  /** No sweep changes a grid that has no inner cells, and the first look at the residual finds any tolerance met. */
  #boundaryAlone(): IterateResult {
    const { iterations: most, tolerance, residualEvery, onProgress } = this.#options
    const look = { iteration: tolerance === undefined ? most : Math.min(residualEvery, most), residual: 0 }
    onProgress?.(look)
    return {
      iterations: look.iteration,
      parity: 0,
      behind: 1,
      residual: look.residual,
      ...(tolerance !== undefined && { converged: look }),
      seconds: 0,
      clock: 'host',
    }
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
      // One call runs all of it. Only slow devices are stopped in between, to report progress.
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

  /** Each interval starts before the host reads the residual of the previous one, so the devices never wait for the host. */
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

  /** The programs of `length` sweeps, the last of which downloads the residual. */
  #interval(length: number, parity: 0 | 1, slot: 0 | 1): [Program, number][] {
    if (length <= longestBody) return [[this.#program(length, parity, slot, length), 1]]
    const times = Math.floor((length - 1) / longestBody)
    return [
      [this.#program(longestBody, parity, slot, 0), times],
      [this.#program(length - times * longestBody, parity, slot, length - times * longestBody), 1],
    ]
  }

  /** The program of `sweeps` sweeps from copy `parity` that downloads the residual after every `every` sweeps and after the last (0: never). */
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
        (recorder) =>
          recordSweeps(recorder, this.#field, this.#kernels, {
            ...{ sweeps, parity, residuals, residualTree: this.#residualTree },
          }),
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
