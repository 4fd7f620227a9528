import type { GpuError } from '../errors.ts'
import type { FrontEndCache } from './front-end-cache.ts'
import type { Handles } from './handles.ts'
import type { KernelSource } from './kernel-source.ts'

/**
 * Work on one device without a plan: buffers and kernels by numbers that the caller chooses, and lists of
 * commands that run in the order of the calls. `Runtime.openCommandQueue` opens it; `DeviceCommands` gives
 * its calls their turns among those of the group.
 *
 * - **Numbers** are positive integers that belong to this queue, counted separately for buffers and kernels.
 *   The number of a destroyed object is not reused.
 * - **Order.** `submit`, `map`, `fence`, `settled` and `destroyBuffer` take effect in the order of the calls,
 *   among themselves and with `write`, `read`, `run` and `free` of the runtime: a run waits for earlier
 *   submits on every device that it uses, and a submit waits for earlier runs. Commands of one list take
 *   effect one after another.
 * - **Validity.** The caller has checked everything: ranges are inside their buffers, offsets and lengths of
 *   commands are multiples of 4, bound ranges of one dispatch do not alias if one is written, mapped buffers
 *   are not used by commands, and kernels have compiled. Only that a buffer has no memory may become
 *   known to the caller too late.
 * - **Nothing throws or waits.** No call waits for the device. Later errors are reported as a `QueueMessage`.
 * - After the message `lost`, calls do nothing, except for `unmap`, which still detaches; pending and later
 *   promises reject with its error.
 */
export interface CommandQueue<H extends Handles = Handles> {
  /** Absent if the runtime keeps nothing between processes. */
  readonly frontEndCache?: FrontEndCache | undefined
  /**
   * Compiles a kernel for this device, outside the JavaScript thread if the runtime can; the kernel exists
   * until `close`. Rejects with `compilation`, `unsupported` or `too-large`. Several may compile at once.
   */
  compile(kernel: number, source: KernelSource, form: KernelForm): Promise<void>
  /**
   * Zeroed memory. `byteLength` is a positive multiple of 4. `host` is memory for `map`: commands may copy
   * from and to it, clear it and write it, but kernels do not access it. If there is not enough memory, the
   * queue sends the message `out-of-memory`.
   */
  createBuffer(buffer: number, byteLength: number, memory: 'device' | 'host'): void
  /**
   * A buffer in memory that `Runtime.allocate` returned, on this device; the caller keeps the allocation
   * until after `destroyBuffer`.
   */
  adoptBuffer(buffer: number, allocation: H['allocation'], byteOffset: number, byteLength: number): void
  /**
   * The device memory of a buffer as an allocation of the runtime, for plans: it is freed after both
   * `destroyBuffer` and `Runtime.free`. Called at most once per buffer. Rejects with `out-of-memory` if the
   * buffer has no memory.
   */
  shareBuffer(buffer: number): Promise<H['allocation']>
  /** Commands submitted before may still use it. */
  destroyBuffer(buffer: number): void
  /**
   * Runs the commands in `words`, in the format of `commandWords`. `data` has the bytes that the list writes.
   * Both are copied before the call returns. A command that names a buffer without memory is skipped, and the
   * queue sends one `skipped` message with the `serial` per submit.
   */
  submit(serial: number, words: Float64Array, data: Uint8Array): void
  /**
   * Resolves when the commands before it are complete and the range of a `host` buffer can be read and
   * written through `mappedRange`. Rejects with `out-of-memory` if the buffer has no memory.
   */
  map(buffer: number, byteOffset: number, byteLength: number): Promise<void>
  /**
   * Bytes of a buffer for which `map` has resolved: its memory, or a copy. Not empty. Ranges of one mapping
   * do not overlap. The caller keeps it until `unmap`, because the queue does not.
   */
  mappedRange(buffer: number, byteOffset: number, byteLength: number): ArrayBuffer
  /**
   * Detaches the ranges that `mappedRange` returned since `map`. If `write` is true, their contents are then
   * in the buffer, for commands submitted later. The contents of a range that the caller has transferred may
   * be lost.
   */
  unmap(buffer: number, write: boolean): void
  /** Resolves when the commands before it are complete. */
  fence(): Promise<void>
  /**
   * Resolves when all messages caused by earlier calls have been delivered, except `lost`. Does not wait for
   * kernels.
   */
  settled(): Promise<void>
  /** Frees everything once the earlier commands are complete. Never rejects. */
  close(): Promise<void>
}

/** Whether the caller knows how many workgroups a dispatch has, or the device reads it from a buffer. */
export type KernelForm = 'direct' | 'indirect'

/** Options of `Runtime.openCommandQueue`. */
export interface CommandQueueOptions {
  readonly label: string
  /**
   * If a submit has not ended this many seconds after the work before it, the queue is lost (code `timeout`).
   * The runtime keeps everything else usable, as far as it can. Absent: no limit.
   */
  readonly timeoutSeconds?: number | undefined
  /** Called on the JavaScript thread, never inside a call of the queue. */
  readonly onMessage: (message: QueueMessage) => void
}

export type QueueMessage =
  /** Buffer `buffer` has no memory. */
  | { readonly kind: 'out-of-memory'; readonly buffer: number; readonly message: string }
  /** Commands of submit `serial` are skipped because `buffer` has no memory. */
  | { readonly kind: 'skipped'; readonly serial: number; readonly buffer: number }
  /**
   * The queue cannot continue: a submit took too long, a command failed, or, with the code `device-lost`, the
   * devices are lost or the runtime is disposed. Sent once.
   */
  | { readonly kind: 'lost'; readonly error: GpuError }

/**
 * The first word of each command. The words after it:
 *
 * | command | words |
 * |---|---|
 * | `dispatch` | kernel, workgroups x, y, z (none is 0), then bindings |
 * | `dispatchIndirect` | kernel of form `indirect`, buffer, byte offset, largest count, then bindings |
 * | `copy` | source buffer, byte offset, target buffer, byte offset, byte length |
 * | `clear` | buffer, byte offset, byte length: zeros |
 * | `write` | buffer, byte offset, offset in `data`, byte length |
 * | `timestamp` | buffer, byte offset |
 *
 * An indirect dispatch reads three u32 counts of workgroups at the byte offset; if one exceeds the largest
 * count, nothing runs. A time stamp is the device's clock in nanoseconds, a u64, when the commands before it
 * are complete and none after it has begun.
 *
 * Bindings are buffer, byte offset and byte length of each of the kernel's `reflection.bindings`, in their
 * order; the length of a uniform binding need not be a multiple of 4. Byte lengths are positive.
 */
export const commandWords = {
  dispatch: 0,
  dispatchIndirect: 1,
  copy: 2,
  clear: 3,
  write: 4,
  timestamp: 5,
} as const
