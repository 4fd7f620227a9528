import type { ObjectState } from './api-object.ts'
import type { BufferState } from './buffer.ts'
import type { DeviceState } from './device-state.ts'
import type { KernelEntry } from './kernel-store.ts'
import type { QuerySetState } from './query-set.ts'

/** Recorded commands, with the objects that must be usable when they are submitted. */
export interface Recorded {
  /** As `commandWords` of core lists them. */
  readonly words: number[]
  readonly buffers: BufferState[]
  readonly querySets: QuerySetState[]
  readonly kernels: Set<KernelEntry>
  /** Objects that must not be garbage-collected until the commands are submitted. */
  readonly kept: object[]
}

/** The state that a GPUCommandEncoder shares with its passes. */
export class EncoderState implements ObjectState {
  readonly device: DeviceState
  valid = true
  phase: 'open' | 'locked' | 'ended' = 'open'
  /** The open pass, while the phase is `locked`. */
  pass: object | undefined
  /** The error that `finish` will report. */
  problem: string | undefined
  debugGroups = 0
  readonly recorded: Recorded = { words: [], buffers: [], querySets: [], kernels: new Set(), kept: [] }

  constructor(device: DeviceState) {
    this.device = device
  }

  /** Makes the encoder invalid; `finish` reports the first problem. */
  fail(problem: string): void {
    this.problem ??= problem
  }

  /** Whether commands may be recorded. Reports the error if they may not. */
  isOpen(method: string): boolean {
    if (this.phase === 'open') return true
    if (this.phase === 'ended') this.device.invalid(`${method}: the GPUCommandEncoder has finished.`)
    else this.fail(`${method}: a pass is open.`)
    return false
  }
}
