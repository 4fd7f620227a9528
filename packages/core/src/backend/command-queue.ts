import type { GpuError } from '../errors.ts'
import type { Handles } from './handles.ts'
import type { KernelSource } from './kernel-source.ts'

/**
 * Work on one device without a plan: buffers and kernels by numbers that the caller chooses, and lists of commands that run in the order of
 * the calls. `Runtime.openCommandQueue` opens it; `DeviceCommands` gives its calls their turns among those of the group.
 *
 * - **Numbers** are positive integers, of this queue alone, for buffers and for kernels apart. One that was destroyed is not used again.
 * - **Order.** `submit`, `map`, `fence`, `settled` and `destroyBuffer` take effect in the order of the calls, among themselves and with
 *   `write`, `read`, `run` and `free` of the runtime: a run waits for the submits before it on every device it reaches, and a submit for the runs.
 *   Commands of one list take effect one after another.
 * - **Validity.** The caller has checked everything: ranges are inside their buffers, offsets and lengths of commands are multiples of 4, bound
 *   ranges of one dispatch do not alias where one is written, mapped buffers are in no command, and kernels have compiled. A buffer that
 *   found no memory is the one thing that the caller may learn too late.
 * - **Nothing throws or waits.** No call waits for the device. What goes wrong later is a `QueueMessage`.
 * - After the message `lost`, calls do nothing, but for `unmap`, which still detaches, and promises that are pending or made later reject with its error.
 */
export interface CommandQueue<H extends Handles = Handles> {
  /**
   * Compiles a kernel for this device, off JavaScript's thread where the runtime can; it stays until `close`. Rejects with `compilation`,
   * `unsupported` or `too-large`. Several may compile at once.
   */
  compile(kernel: number, source: KernelSource, form: KernelForm): Promise<void>
  /**
   * Zeroed memory. `byteLength` is a positive multiple of 4. `host` is memory for `map`, which commands may copy from and to, clear and
   * write, and no kernel touches. Where there is none left, a message says so.
   */
  createBuffer(buffer: number, byteLength: number, memory: 'device' | 'host'): void
  /** A buffer in memory that `Runtime.allocate` gave, on this device; the caller keeps the allocation until after `destroyBuffer`. */
  adoptBuffer(buffer: number, allocation: H['allocation'], byteOffset: number, byteLength: number): void
  /**
   * The memory of a buffer in device memory as an allocation of the runtime's, for plans: it is given back after both `destroyBuffer` and
   * `Runtime.free`. Called once a buffer at most. Rejects with `out-of-memory` where it has none.
   */
  shareBuffer(buffer: number): Promise<H['allocation']>
  /** Commands submitted before may still use it. */
  destroyBuffer(buffer: number): void
  /**
   * Runs the commands in `words`, which `commandWords` lists. `data` holds what the list writes. Both are copied before the call returns. A
   * command that names a buffer without memory is skipped, and a message says so once a submit, by its `serial`.
   */
  submit(serial: number, words: Float64Array, data: Uint8Array): void
  /** Resolves when the commands before it are complete and the range of a `host` buffer can be read and written through `mappedRange`. */
  map(buffer: number, byteOffset: number, byteLength: number): Promise<void>
  /**
   * Bytes of a buffer that `map` has resolved for: its memory, or a copy. Not empty. Ranges of one mapping do not overlap.
   */
  mappedRange(buffer: number, byteOffset: number, byteLength: number): ArrayBuffer
  /**
   * Detaches what `mappedRange` gave since `map`; where `write` is true, what they held is in the buffer then, for commands submitted later.
   * Of a range that the caller has transferred elsewhere, nothing need arrive.
   */
  unmap(buffer: number, write: boolean): void
  /** Resolves when the commands before it are complete. */
  fence(): Promise<void>
  /** Resolves when every message that calls before it cause has been delivered, but for `lost`. Does not wait for kernels. */
  settled(): Promise<void>
  /** Gives everything back once the commands before it are complete. Never rejects. */
  close(): Promise<void>
}

/** Whether the caller knows how many workgroups a dispatch has, or the device reads it from a buffer. */
export type KernelForm = 'direct' | 'indirect'

/** Options of `Runtime.openCommandQueue`. */
export interface CommandQueueOptions {
  readonly label: string
  /**
   * A submit that has not ended so long after the work before it loses the queue (code `timeout`), and as little beside the queue as the
   * runtime can manage. Absent: there is no limit.
   */
  readonly timeoutSeconds?: number | undefined
  /** Called between other work of JavaScript's thread, never inside a call of the queue. */
  readonly onMessage: (message: QueueMessage) => void
}

export type QueueMessage =
  /** Buffer `buffer` has no memory. */
  | { readonly kind: 'out-of-memory'; readonly buffer: number; readonly message: string }
  /** Commands of submit `serial` are skipped because `buffer` has no memory. */
  | { readonly kind: 'skipped'; readonly serial: number; readonly buffer: number }
  /** The queue cannot go on: a submit takes too long, or a command fails. Comes once, also where all devices are lost. */
  | { readonly kind: 'lost'; readonly error: GpuError }

/**
 * The first word of each command. The words after it:
 *
 * | command | words |
 * |---|---|
 * | `dispatch` | kernel, workgroups x, y, z (none is 0), then bindings |
 * | `dispatchIndirect` | kernel of form `indirect`, buffer and byte offset of the three u32 counts, the largest count (if one exceeds it, nothing runs), then bindings |
 * | `copy` | source buffer, byte offset, target buffer, byte offset, byte length |
 * | `clear` | buffer, byte offset, byte length: zeros |
 * | `write` | buffer, byte offset, offset in `data`, byte length |
 * | `timestamp` | buffer, byte offset: the device's clock in nanoseconds, a u64, when the commands before it are complete and none after it has begun |
 *
 * Bindings are buffer, byte offset and byte length of each of the kernel's `reflection.bindings`, in their order; the length of a uniform
 * binding need be no multiple of 4. Byte lengths are positive.
 */
export const commandWords = {
  dispatch: 0,
  dispatchIndirect: 1,
  copy: 2,
  clear: 3,
  write: 4,
  timestamp: 5,
} as const
