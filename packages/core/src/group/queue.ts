import type { Span } from '../backend/execution.ts'
import type { ElementArray, ElementType, HostArray } from '../buffers/element-type.ts'
import type { ParameterValue } from '../kernels/parameter.ts'
import type { PlanPart } from '../plan/plan.ts'
import type { Program } from '../running/program.ts'
import type { BufferView } from './device.ts'

/** Options of `Queue.run`. */
export interface RunOptions {
  /** Acts between repetitions: work in flight completes, then `run` rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined
  /**
   * Lets `signal` act inside kernels too, at once: what the program writes is then undefined. Rejects with `unsupported` where the program's kernels
   * cannot be ended; those that the CUDA backend compiles can.
   */
  readonly stopKernels?: boolean | undefined
  /**
   * Seconds that the run may take on the devices, from when everything queued before it is done; default: no limit. A run that takes longer is ended
   * inside its kernels and rejects with `timeout`: what the program writes is then undefined, and the group goes on. Where kernels cannot be ended, as
   * on WebGPU, the group is lost. Over several processes it acts on each by its own clock, in runs without a signal, over
   * every transport but `nccl`; kernels that cannot be ended are `unsupported` there. Rejects with `unsupported` where the backend has no limits.
   */
  readonly timeoutSeconds?: number | undefined
  /** Collects one span per command of the last repetition, where the device has timestamps. */
  readonly profile?: boolean | undefined
  /** New values of recorded parameters, for this run. */
  readonly parameters?: Readonly<Record<string, ParameterValue>> | undefined
  /**
   * Called about 20 times, and at the end, with the repetitions that are done; the devices do not wait for it. The run is then made of as many
   * parts, each of which `timeoutSeconds` limits. What it throws rejects the run once all parts have ended. Over several processes it is called at
   * the end alone.
   */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined
}

/** How far a run is. */
export interface RunProgress {
  /** Repetitions that are done. */
  readonly done: number
  /** Repetitions of the whole run. */
  readonly times: number
}

/** How long a run took. */
export interface RunResult {
  /** Of all repetitions together, from the first launch to completion; over several processes the longest of all. */
  readonly seconds: number
  /** Whose clock `seconds` are of: the devices' where they have timestamps. */
  readonly clock: 'device' | 'host'
  readonly repetitions: number
  /** Of the last repetition, in no particular order; present where `profile` asks for it. A command without timestamps has none. */
  readonly spans?: readonly ProgramSpan[]
}

/** When a command of a program ran: its `Span`, and what the program calls it. */
export type ProgramSpan = Span & { readonly label: string; readonly kind: PlanPart['kind'] }

/** Options of `Queue.read`. */
export interface ReadOptions<T extends ElementType> {
  /** The array that receives the elements. It must be as long as the view, at the call and when the elements arrive, and is written only then. */
  readonly into?: HostArray<T> | undefined
  /**
   * Which processes get the elements: all (the default), the one of the buffer's device, which no other process needs to know of,
   * or the one of this rank. Others resolve to undefined.
   */
  readonly to?: 'all' | 'owner' | number | undefined
}

/** Everything takes effect in the order of the calls. Promises reject with `GpuError`. */
export interface Queue {
  /**
   * Copies `data` (dense, row after row) into `target`. Later changes of `data` have no effect. In a group over several
   * processes it concerns the process of the buffer's device alone; others may leave `data` out.
   */
  write<T extends ElementType>(target: BufferView<T>, data: HostArray<T> | undefined): Promise<void>
  /** The view's elements, dense, row after row; in every process of the group. */
  read<T extends ElementType>(source: BufferView<T>, options?: ReadOptions<T>): Promise<ElementArray<T>>
  /** The view's elements in the one process that `to` names, undefined in others. */
  read<T extends ElementType>(
    source: BufferView<T>,
    options: ReadOptions<T> & { readonly to: 'owner' | number },
  ): Promise<ElementArray<T> | undefined>
  /**
   * Runs the program `times` times (default 1; 0 does nothing) with one call of the backend. Over several processes, an error in
   * one is an error in all, and `seconds` are the longest of all.
   */
  run(program: Program, times?: number, options?: RunOptions): Promise<RunResult>
}
