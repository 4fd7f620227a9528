import { GpuError } from '../errors.ts'

/** How a runtime runs an executable. */
export interface ExecutionOptions {
  /** At least 1. */
  readonly times: number
  /** Checked between launches; an abort rejects with `aborted` after the work in flight has completed. */
  readonly signal?: AbortSignal | undefined
  /** Over several ranks: whether any of them passes a signal. If false, the run cannot be aborted. */
  readonly abortable?: boolean | undefined
  /**
   * Ends the run inside its kernels after this many seconds: it rejects with `timeout`. Only for an
   * executable that is `stoppable`.
   */
  readonly timeoutSeconds?: number | undefined
  /** An abort also ends the kernels that run. Only for an executable that is `stoppable`. */
  readonly stopsKernels?: boolean | undefined
  /** One span per command of the last repetition, if the device has timestamps. */
  readonly profile?: boolean | undefined
  /** Replaces `Plan.uniformBlock` for this run; same length. */
  readonly uniformBlock?: Uint8Array<ArrayBuffer> | undefined
}

/** The options of a run that is neither aborted nor profiled. */
export type RepeatedOptions = Pick<ExecutionOptions, 'times' | 'uniformBlock'>

/** How long an execution took. */
export interface ExecutionResult {
  /**
   * From the first launch to completion, by the device clock if there is one, otherwise by the host's clock.
   */
  readonly seconds: number
  readonly clock: 'device' | 'host'
  readonly spans?: readonly Span[]
}

/** When a command ran, on one clock for all devices of the group; seconds from the start of the run. */
export interface Span {
  readonly command: number
  readonly repetition: number
  readonly device: number
  readonly startSeconds: number
  readonly endSeconds: number
}

export function abortedError(signal: AbortSignal, completed: number, times: number): GpuError {
  return new GpuError('aborted', `The run was aborted after ${completed} of ${times} repetitions.`, {
    cause: signal.reason,
  })
}
