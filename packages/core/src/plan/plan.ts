import type { Handles } from '../backend/handles.ts'

/**
 * A recorded program as data: commands, the memory that each one accesses, and their order. Backends execute
 * it, tests assert on it, `printPlan` prints it. Everything is in bytes; nothing refers to the public
 * objects.
 */
export interface Plan<H extends Handles = Handles, C extends PlanPart = PlanCommand> {
  readonly label: string
  readonly schedule: Schedule
  readonly buffers: readonly PlanBuffer<H>[]
  readonly kernels: readonly H['kernel'][]
  readonly commands: readonly C[]
  /**
   * Uniform blocks of all dispatches one after another, each at a multiple of 256 bytes; `run` may pass a
   * changed copy.
   */
  readonly uniformBlock: Uint8Array<ArrayBuffer>
}

/**
 * `overlapped`: only hazards order commands. `serial`: commands run in stages, one stage after another; those
 * of one stage do not wait for each other.
 */
export type Schedule = 'overlapped' | 'serial'

/** Memory that a plan accesses; regions name it by its position in `Plan.buffers`. */
export type PlanBuffer<H extends Handles = Handles> =
  | {
      readonly kind: 'device'
      readonly label: string
      readonly device: number
      readonly byteLength: number
      readonly allocation: H['allocation']
    }
  | {
      readonly kind: 'host'
      readonly label: string
      readonly byteLength: number
      /**
       * In a whole plan (`Ranks.sharesMemory`): the rank that has the memory. Other ranks have an empty
       * `arrayBuffer`.
       */
      readonly rank?: number
      readonly allocation: H['hostAllocation']
    }

/**
 * `rows` runs of `rowByteLength` bytes, `rowByteStride` apart, of some memory. Contiguous extents have one
 * row.
 */
export interface Extent {
  readonly byteOffset: number
  readonly rowByteLength: number
  readonly rows: number
  readonly rowByteStride: number
}

/** An extent of `Plan.buffers[buffer]`. */
export interface ByteRegion extends Extent {
  readonly buffer: number
}

/** Whether a part of a plan over several ranks is a message. */
export function isMessage(part: PlanPart): part is PlanMessage {
  return part.kind === 'send' || part.kind === 'receive'
}

interface PlanCommandBase {
  /** Position in `Plan.commands`; the order of recording, which is always a valid execution order. */
  readonly index: number
  readonly label: string
  /**
   * Device on whose queue the command runs; for copies, the receiver (for downloads, the sender). For
   * commands that access only host memory, the device that the memory was allocated for, or the rank's first
   * device; -1 on a rank without devices.
   */
  readonly device: number
  /**
   * Commands of the same repetition that must complete first: a transitive reduction of the hazards.
   * Ascending.
   */
  readonly after: readonly number[]
  /** Commands of the PREVIOUS repetition that must complete first. Ascending. If empty, none does. */
  readonly afterPrevious: readonly number[]
}

/** Runs `Plan.kernels[kernel]`. */
export interface PlanDispatch extends PlanCommandBase {
  readonly kind: 'dispatch'
  readonly kernel: number
  readonly workgroups: readonly [x: number, y: number, z: number]
  readonly bindings: readonly PlanBinding[]
}

/** A binding of a dispatch: a range of a buffer, or of the uniform block. */
export type PlanBinding =
  | {
      readonly kind: 'storage'
      readonly group: number
      readonly binding: number
      readonly name: string
      readonly access: 'read' | 'read_write'
      /** The bound range: it starts at a multiple of `bindingOffsetAlignment` and encloses the view. */
      readonly buffer: number
      readonly byteOffset: number
      readonly byteLength: number
      /**
       * The range that the caller declares as accessed by the kernel; `trap` and the reference executor check
       * against it.
       */
      readonly view: ByteRegion
      /** Whether the kernel reads and writes it; hazards are derived from this. */
      readonly reads: boolean
      readonly writes: boolean
    }
  | {
      readonly kind: 'uniform'
      readonly group: number
      readonly binding: number
      readonly name: string
      /** Offset into `Plan.uniformBlock`. */
      readonly byteOffset: number
      readonly byteLength: number
    }

/**
 * Source and target have the same `rows` and `rowByteLength`. Buffers may be on different devices, or on the
 * host.
 */
export interface PlanCopy extends PlanCommandBase {
  readonly kind: 'copy' | 'upload' | 'download'
  readonly source: ByteRegion
  readonly target: ByteRegion
}

/** Fills a region with a pattern. */
export interface PlanFill extends PlanCommandBase {
  readonly kind: 'fill'
  readonly target: ByteRegion
  /** Bit pattern repeated over the region, of `patternByteLength` bytes. */
  readonly pattern: number
  readonly patternByteLength: 1 | 2 | 4
}

/** The commands that every backend receives. */
export type PlanCommand = PlanDispatch | PlanCopy | PlanFill

/**
 * This rank's part of a copy between two ranks: the sender's `send` and the receiver's `receive` are one
 * message. It is identified by sender, receiver, `program`, `ordinal` and repetition, never by the order of
 * arrival. A `send` completes when its bytes may be overwritten, a `receive` when all bytes have arrived; the
 * two need not wait for each other. The `send` of repetition k + 2 waits until the receiver has received that
 * of repetition k, so that the amount of data in flight is bounded.
 */
export interface PlanMessage extends PlanCommandBase {
  readonly kind: 'send' | 'receive'
  /** The other rank. */
  readonly peer: number
  /** Number of the program in the group; the same on all ranks. */
  readonly program: number
  /**
   * Number of the message among those of the program from this sender to this receiver, in recorded order.
   */
  readonly ordinal: number
  /**
   * Memory of this rank, of a device or of the host; its bytes are sent row after row, without gaps. The
   * peer's region has the same number of bytes but may have different rows. Absent for a message without
   * bytes, which only orders commands.
   */
  readonly region?: ByteRegion
}

/** The commands that a runtime over several ranks receives. */
export type PlanPart = PlanCommand | PlanMessage
