import type { Span } from './backend.ts'
import type { ElementArray, ElementType } from './element-type.ts'
import type { PlanCommand } from './plan.ts'
import type { Program } from './program.ts'
import type { BufferView } from './view.ts'

export interface RunOptions {
  /** Acts between repetitions: work in flight completes, then `run` rejects with `aborted`. */
  readonly signal?: AbortSignal
  /** Collects one span per command of the last repetition, where the device has timestamps. */
  readonly profile?: boolean
  /** New values of recorded parameters, for this run. */
  readonly parameters?: Readonly<Record<string, number>>
}

export interface RunResult {
  readonly seconds: number
  readonly clock: 'device' | 'host'
  readonly repetitions: number
  readonly spans?: readonly ProgramSpan[]
}

export type ProgramSpan = Span & { readonly label: string; readonly kind: PlanCommand['kind'] }

export interface ReadOptions<T extends ElementType> {
  /** Receives the elements; exactly as long as the view. */
  readonly into?: ElementArray<T>
}

/** Everything takes effect in the order of the calls. Promises reject with `GpuError`. */
export interface Queue {
  /** Copies `data` (dense, row after row) into `target`. Leave `data` alone until the promise settles. */
  write<T extends ElementType>(target: BufferView<T>, data: ElementArray<T>): Promise<void>
  /** The view's elements, dense, row after row. */
  read<T extends ElementType>(source: BufferView<T>, options?: ReadOptions<T>): Promise<ElementArray<T>>
  /** Runs the program `times` times (default 1; 0 does nothing) with one call of the backend. */
  run(program: Program, times?: number, options?: RunOptions): Promise<RunResult>
}
