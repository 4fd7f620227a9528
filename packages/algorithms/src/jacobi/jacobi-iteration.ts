import {
  type DeviceGroup,
  elementArray,
  type HostBuffer,
  type Program,
  type Schedule,
} from '@tandem-gpu/core'
import { characterOf } from '../device-character.ts'
import type { JacobiField } from './jacobi-field.ts'
import type { JacobiKernels } from './jacobi-kernels.ts'
import { recordSweeps } from './record-jacobi.ts'
import { ResidualTree } from './residual-tree.ts'
import {
  planInterval,
  planSweeps,
  repeatedBody,
  residualsOf,
  type SweepBody,
  type SweepRun,
  type SweepWork,
} from './sweep-plan.ts'

/**
 * A run of at least this many seconds is interrupted this often to report its progress, which takes some
 * microseconds each time.
 */
const longRun = 2
const reportsOfLongRun = 100

export interface IterateOptions {
  readonly iterations: number
  /**
   * Stop when the largest change of a cell in one sweep is at most this. The change is read every
   * `residualEvery` sweeps, while the next interval is already running.
   */
  readonly tolerance?: number | undefined
  readonly residualEvery: number
  readonly schedule: Schedule
  readonly signal?: AbortSignal | undefined
  /**
   * Called after every interval that the host waits for. A fixed number of iterations reports up to 200 times
   * on software; on hardware once, at the end, or 100 times if the previous run took more than two seconds.
   */
  readonly onProgress?: ((progress: { iteration: number; residual: number }) => void) | undefined
}

export interface IterateResult {
  /** The number of sweeps that were done. */
  readonly iterations: number
  /** The copy that holds the state. The other copy holds the state of `behind` sweeps earlier. */
  readonly parity: 0 | 1
  readonly behind: number
  /** Largest change of a cell in the last sweep; absent if no sweep ran. */
  readonly residual?: number
  /** The first check at which the tolerance held. The state may be one interval further. */
  readonly converged?: { readonly iteration: number; readonly residual: number }
  readonly seconds: number
  readonly clock: 'device' | 'host'
}

/**
 * Runs sweeps from copy 0 of a field that holds a state. Keeps its programs, so that a second call records
 * nothing.
 */
export class JacobiIteration {
  readonly #field: JacobiField
  readonly #kernels: JacobiKernels
  readonly #options: IterateOptions
  readonly #residuals: HostBuffer<'u32'>
  readonly #residualTree: ResidualTree | undefined
  readonly #programs = new Map<string, Program>()
  /** The duration of the last run of a fixed number of iterations, the same on every rank. */
  #lastSeconds = 0

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

  get #work(): SweepWork {
    const { iterations, residualEvery } = this.#options
    return { iterations, residualEvery, fused: this.#fused }
  }

  get #fused(): boolean {
    return this.#kernels.fused !== undefined
  }

  /** The program that a fixed number of iterations repeats; callers print and trace it. */
  body(): Program {
    return this.#program(repeatedBody(this.#work))
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

  /**
   * The result for a grid without inner cells: no sweep changes it, and the first check of the residual meets
   * any tolerance.
   */
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
    const { iterations, onProgress } = this.#options
    // One call runs everything. Only a run that is slow, or was slow last time, is interrupted to report
    // progress.
    const { progressReports } = characterOf(this.#group)
    const reports = onProgress
      ? Math.max(progressReports, this.#lastSeconds > longRun ? reportsOfLongRun : 1)
      : 1
    const { runs, parity, behind } = planSweeps(this.#work, reports)
    const stretches = reports > 1 ? runs.map((run) => [run]) : [runs]
    let iteration = 0
    let seconds = 0
    let clock: IterateResult['clock'] = 'device'
    for (const stretch of stretches) {
      const ran = await this.#runAll(stretch)
      seconds += ran.seconds
      if (ran.clock === 'host') clock = 'host'
      for (const { body, times } of stretch) iteration += times * body.sweeps
      onProgress?.({ iteration, residual: this.#residual(0) })
    }
    this.#lastSeconds = seconds
    return { iterations, parity, behind, residual: this.#residual(0), seconds, clock }
  }

  /**
   * Each interval starts before the host reads the residual of the previous one, so the devices never wait
   * for the host.
   */
  async #untilTolerance(tolerance: number): Promise<IterateResult> {
    const { iterations, residualEvery, onProgress } = this.#options
    const start = performance.now()
    let enqueued = 0
    let state: { parity: 0 | 1; behind: number } = { parity: 0, behind: 1 }
    let slot: 0 | 1 = 0
    const enqueue = () => {
      const length = Math.min(residualEvery, iterations - enqueued)
      const { runs, ...after } = planInterval(length, state.parity, slot, this.#fused)
      state = after
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
      ...state,
      residual,
      ...(converged && { converged }),
      seconds: (performance.now() - start) / 1e3,
      clock: 'host',
    }
  }

  #program(body: SweepBody): Program {
    const key = JSON.stringify(body)
    let program = this.#programs.get(key)
    if (!program) {
      const { sweeps, parity, slot } = body
      const count = this.#field.blocks.length
      const target = this.#residuals.slice(slot * count, count)
      const residuals = new Map(residualsOf(body).map((sweep) => [sweep, target]))
      program = this.#group.record(
        (recorder) =>
          recordSweeps(recorder, this.#field, this.#kernels, {
            sweeps,
            parity,
            residuals,
            residualTree: this.#residualTree,
          }),
        { schedule: this.#options.schedule, label: `jacobi ${sweeps} sweeps` },
      )
      this.#programs.set(key, program)
    }
    return program
  }

  async #runAll(runs: readonly SweepRun[]): Promise<Pick<IterateResult, 'seconds' | 'clock'>> {
    const { signal } = this.#options
    const programs = runs.map(({ body, times }) => ({ program: this.#program(body), times }))
    for (const { program } of programs) await program.prepare()
    const results = await Promise.all(
      programs.map(({ program, times }) => this.#group.queue.run(program, times, signal ? { signal } : {})),
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
