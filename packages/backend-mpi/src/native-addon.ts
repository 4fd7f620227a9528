import { GpuError, type GpuErrorCode } from '@tandem-gpu/core'
import type { RankMessage } from '@tandem-gpu/core/backend'
import { type AddonPackage, addonFailure, addonLoader } from '@tandem-gpu/core/native'
import type { MpiFamily } from './launcher.ts'

/**
 * What native/src exports. MPI's state is one a process, and so is the addon's. A key is unique within its
 * `group`, which all ranks number alike. Errors carry `nativeCode`, a GpuErrorCode.
 */
export interface NativeAddon {
  /** Opens the first library that loads, and starts nothing. Later calls return the same one. */
  describeLibrary(candidates: readonly string[]): MpiLibrary
  /**
   * Starts MPI on the thread that makes all its calls. `onLost` is told of a group, or of all where it is
   * undefined; `onWaiting` of what another rank says with `sayWaiting`.
   */
  start(
    candidates: readonly string[],
    onLost: (group: number | undefined, code: GpuErrorCode, message: string) => void,
    onWaiting: (rank: number, text: string) => void,
  ): Promise<{ rank: number; size: number; gpuAware?: GpuSupport }>
  /** Where rank 0 takes the others' connections. */
  listen(): { port: number; addresses: string[] }
  watch(options: WatchOptions): Promise<void>
  /**
   * Gives a group a communicator of MPI, which its deliveries and runs need. Every rank opens it; settles
   * once all have. Rejects with `out-of-memory` where MPI has no more.
   */
  openGroup(group: number): Promise<void>
  /**
   * This rank has no more deliveries and runs of the group. `clean`: all that it has begun, it has ended.
   * Never waits.
   */
  closeGroup(group: number, clean: boolean): void
  gather(group: number, key: number, message: string, number?: number): Promise<RankMessage[]>
  /**
   * Two gathers with a run between them, which `launcher` (a TandemLauncher) starts where all ranks say the
   * same. `ended` is undefined where they do not, and an error where the run fails here: then nothing is said
   * at its end.
   */
  runAgreed(
    group: number,
    key: number,
    message: string,
    endKey: number,
    endMessage: string,
    launcher: unknown,
  ): {
    started: Promise<RankMessage[]>
    ended: Promise<{ said: RankMessage[] } | { error: Error } | undefined>
  }
  /**
   * `to` is -1 for all. Deliveries of one group whose keys differ by a multiple of 16,383 are called in the
   * same order on all ranks that take part.
   */
  deliver(group: number, key: number, from: number, to: number, bytes: Uint8Array<ArrayBuffer>): Promise<void>
  prepare(nodes: readonly NativeNode[]): PreparedNodes
  /**
   * `issue` may be called before the promise settles; its segment is reported with `segmentCompleted`. A
   * segment with a launcher (`NativeAccess.launcher` of the inner backend, by node) is started by it instead,
   * and `failed` is told where that fails.
   */
  run(
    group: number,
    key: number,
    nodes: PreparedNodes,
    times: number,
    issue: (node: number, repetition: number, count: number) => void,
    launchers: readonly unknown[],
    failed: (reason: string) => void,
  ): Promise<{ seconds: number; repetitions: number }>
  segmentCompleted(group: number, key: number, node: number, count: number): void
  /** Ends a run that has no messages, here alone. */
  endRun(group: number, key: number): void
  /** All ranks end the run after the same repetition. */
  abortRun(group: number, key: number): void
  /** The thread for messages does not sleep, for so many milliseconds from now. */
  stayAwake(milliseconds: number): void
  /** Lets other threads go first that wait for this core. */
  yieldCore(): void
  /**
   * This rank makes no more calls of the group, or of any, because of an error of that code; an empty
   * `reason` is none.
   */
  leave(group: number | undefined, code: GpuErrorCode, reason: string): void
  /** Tells the other ranks for what this one has waited too long. */
  sayWaiting(text: string): void
  /** This rank ends: that its connections do too is no death. */
  end(): void
  /** MPI_Finalize; waits for the other ranks. False after a failure. */
  finalize(): boolean
  /** MPI_Abort: ends all ranks. */
  abort(exitCode: number): void
}

export interface MpiLibrary {
  readonly path: string
  readonly family: MpiFamily
  /** What the library says of itself, one line. */
  readonly version: string
  /**
   * Whether messages may come from device memory; absent where the library does not say, or says so only when
   * it is started.
   */
  readonly gpuAware?: boolean
}

/**
 * What a started library says about device memory, and the function (or the information) by which it says so.
 */
export interface GpuSupport {
  readonly supported: boolean
  readonly asked: string
}

export interface WatchOptions {
  readonly names: readonly string[]
  readonly token: string
  readonly addresses: readonly string[]
  readonly port: number
  readonly deathDelayMilliseconds: number
}

declare const prepared: unique symbol
export interface PreparedNodes {
  readonly [prepared]: true
}

declare const addressed: unique symbol
/** An external value that holds a TandemDeviceMemory. */
export interface DeviceMemory {
  readonly [addressed]: true
}

interface NativeNodeBase {
  /** Nodes of the same repetition, and of the one before, that must be done first. */
  readonly after: readonly number[]
  readonly afterPrevious: readonly number[]
}

/** Device work that JavaScript submits to the inner backend. */
export interface NativeSegment extends NativeNodeBase {
  readonly kind: 'segment'
}

/**
 * A message from or to memory: `rows` runs of `rowByteLength` bytes, `rowByteStride` apart. No rows: no
 * bytes.
 */
export interface NativeMessage extends NativeNodeBase {
  readonly kind: 'send' | 'receive'
  readonly peer: number
  readonly tag: number
  /**
   * Host memory, or device memory (`NativeAccess.address` of the inner backend), of which messages are dense.
   */
  readonly memory: ArrayBuffer | DeviceMemory
  readonly byteOffset: number
  readonly rows: number
  readonly rowByteLength: number
  readonly rowByteStride: number
}

export type NativeNode = NativeSegment | NativeMessage

const mpiPackage: AddonPackage = {
  name: '@tandem-gpu/backend-mpi',
  moduleUrl: import.meta.url,
  backend: 'mpi()',
}

/** The addon, or why it does not load. */
export const nativeAddon = addonLoader<NativeAddon>(mpiPackage)

/**
 * What it means that the addon does not load: an error, since a job of many ranks was asked for. In a clone
 * that was built without it, the code is `no-driver`, as without an MPI library: `adapters()` reports it as
 * an absence.
 */
export function addonError(error: Error): GpuError {
  const { kind, reason, remedy } = addonFailure(mpiPackage, error)
  return new GpuError(kind === 'skipped' ? 'no-driver' : 'unsupported', `${reason} ${remedy}`, {
    cause: error,
  })
}

/** Turns what the addon throws or rejects with into a GpuError; other errors pass through. */
export function toGpuError(error: unknown): unknown {
  if (!(error instanceof Error) || !('nativeCode' in error)) return error
  return new GpuError(error.nativeCode as GpuErrorCode, error.message, { cause: error })
}

/** What a promise of the addon gives; what it rejects with is a GpuError. */
export async function settled<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise
  } catch (error) {
    throw toGpuError(error)
  }
}
