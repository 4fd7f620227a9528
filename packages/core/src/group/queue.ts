import type { Span } from '../backend/execution.ts'
import type { ElementArray, ElementType, HostArray } from '../buffers/element-type.ts'
import type { ParameterValue } from '../kernels/parameter.ts'
import type { PlanPart } from '../plan/plan.ts'
import type { Program } from '../running/program.ts'
import type { BufferView } from './device.ts'

/** Options of `Queue.run`. */
export interface RunOptions {
  /** Takes effect between repetitions: work in flight completes, and then `run` rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined
  /**
   * Lets `signal` also stop running kernels, immediately: the memory that the program writes is then
   * undefined. Rejects with `unsupported` if the program's kernels cannot be stopped; kernels that the CUDA
   * backend compiles can.
   */
  readonly stopKernels?: boolean | undefined
  /**
   * Seconds that the run may take on the devices, starting when everything queued before it is done; default:
   * no limit. A run that takes longer is stopped inside its kernels and rejects with `timeout`: the memory
   * that the program writes is then undefined, and the group can still be used. If kernels cannot be stopped,
   * as on WebGPU, the group is lost. Over several processes, the limit starts when all of them have begun the
   * run, each process uses its own clock, and a signal together with a limit and kernels that cannot be
   * stopped are `unsupported`. Rejects with `unsupported` if the backend has no time limits.
   */
  readonly timeoutSeconds?: number | undefined
  /** Collects one span per command of the last repetition, if the device has timestamps. */
  readonly profile?: boolean | undefined
  /** New values of recorded parameters, for this run. */
  readonly parameters?: Readonly<Record<string, ParameterValue>> | undefined
  /**
   * Called about 20 times, and at the end, with the number of repetitions done; the devices do not wait for
   * it. The run is then divided into as many parts, and `timeoutSeconds` limits each part. If it throws, the
   * run rejects with that error once all parts have ended. Over several processes it is called only at the
   * end.
   */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined
}

/** The progress of a run. */
export interface RunProgress {
  /** Repetitions that are done. */
  readonly done: number
  /** Repetitions of the whole run. */
  readonly times: number
}

/** How long a run took. */
export interface RunResult {
  /**
   * The time of all repetitions together, from the first launch to completion; over several processes, the
   * longest time.
   */
  readonly seconds: number
  /** The clock of `seconds`: that of the devices if they have timestamps. */
  readonly clock: 'device' | 'host'
  readonly repetitions: number
  /**
   * The spans of the last repetition, in no particular order; present if `profile` is true. A command without
   * timestamps has none.
   */
  readonly spans?: readonly ProgramSpan[]
}

/** When a command of a program ran: its `Span`, and its name in the program. */
export type ProgramSpan = Span & { readonly label: string; readonly kind: PlanPart['kind'] }

/** Options of `Queue.read`. */
export interface ReadOptions<T extends ElementType> {
  /**
   * The array that receives the elements. It must have the length of the view both at the call and when the
   * elements arrive, and is written only then.
   */
  readonly into?: HostArray<T> | undefined
  /**
   * Which processes get the elements: all (the default), only the process of the buffer's device (other
   * processes need not make the call), or the process with this rank. In the others the result is undefined.
   */
  readonly to?: 'all' | 'owner' | number | undefined
}

/** Everything takes effect in the order of the calls. Promises reject with `GpuError`. */
export interface Queue {
  /**
   * Copies `data` (dense, row after row) into `target`. Later changes to `data` have no effect. In a group
   * over several processes it concerns only the process of the buffer's device; others may omit `data`.
   */
  write<T extends ElementType>(target: BufferView<T>, data: HostArray<T> | undefined): Promise<void>
  /** The view's elements, dense, row after row; in every process of the group. */
  read<T extends ElementType>(source: BufferView<T>, options?: ReadOptions<T>): Promise<ElementArray<T>>
  /** The view's elements in the process that `to` names; undefined in the others. */
  read<T extends ElementType>(
    source: BufferView<T>,
    options: ReadOptions<T> & { readonly to: 'owner' | number },
  ): Promise<ElementArray<T> | undefined>
  /**
   * Runs the program `times` times (default 1; 0 does nothing) with one call of the backend. Over several
   * processes, an error in one process is an error in all, and `seconds` is the longest time.
   */
  run(program: Program, times?: number, options?: RunOptions): Promise<RunResult>
}
