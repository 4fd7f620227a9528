import { GpuError, type GpuErrorCode } from '@tandem-gpu/core'
import type { Extent, RankMessage } from '@tandem-gpu/core/backend'
import { type AddonPackage, addonFailure, addonLoader } from '@tandem-gpu/core/native'
import type { MpiFamily } from './launcher.ts'

/**
 * The exports of native/src. A process has one MPI state, and so one addon state. A key is unique within its
 * `group`; a group has the same number on all ranks. Errors have a `nativeCode`, which is a GpuErrorCode.
 */
export interface NativeAddon {
  /** Opens the first library that loads, without starting MPI. Later calls return the same library. */
  describeLibrary(candidates: readonly string[]): MpiLibrary
  /**
   * Starts MPI on the thread that makes all its calls. `onLost` is called when a group is lost, or all groups
   * if `group` is undefined; `onWaiting` receives the texts that other ranks send with `sayWaiting`.
   */
  start(
    candidates: readonly string[],
    onLost: (group: number | undefined, code: GpuErrorCode, message: string) => void,
    onWaiting: (rank: number, text: string) => void,
  ): Promise<{ rank: number; size: number; gpuAware?: GpuSupport }>
  /** Makes rank 0 listen for the other ranks' connections, and returns the port and the addresses. */
  listen(): { port: number; addresses: string[] }
  watch(options: WatchOptions): Promise<void>
  /**
   * Assigns an MPI communicator to a group for its deliveries and runs. Every rank must call it; it settles
   * once all have. Rejects with `out-of-memory` if MPI has no more communicators.
   */
  openGroup(group: number): Promise<void>
  /**
   * Declares that this rank has no more deliveries and runs of the group. `clean`: it has completed
   * everything that it began. Never waits.
   */
  closeGroup(group: number, clean: boolean): void
  /**
   * `takesTurn`: it begins work in which devices of the ranks wait for each other. It settles once such work of
   * other groups that began before has ended here; all ranks get the turns in the same order. Each such call
   * needs one of `endTurn`.
   */
  gather(
    group: number,
    key: number,
    message: string,
    number?: number,
    takesTurn?: boolean,
  ): Promise<RankMessage[]>
  endTurn(group: number, key: number): void
  /**
   * Two gathers with a run between them, which `launcher` (a TandemLauncher) starts if all ranks send the
   * same first message. The first takes a turn, which ends with the run; if there is no run, it needs `endTurn`.
   * `ended` resolves to undefined if they do not send the same, and to an error if the run fails here; the
   * second message is then not sent.
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
   * `to` is -1 for all ranks. All ranks that take part must call deliveries of one group whose keys differ by
   * a multiple of 16,383 in the same order.
   */
  deliver(group: number, key: number, from: number, to: number, bytes: Uint8Array<ArrayBuffer>): Promise<void>
  prepare(nodes: readonly NativeNode[]): PreparedNodes
  /**
   * Calls `issue` for each segment that may start; the caller reports the completion with `segmentCompleted`.
   * A segment that has a launcher (`NativeAccess.launcher` of the inner backend, by node) is started by it
   * instead; `failed` is called if that fails.
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
  /** Ends a run that has no messages, only on this rank. */
  endRun(group: number, key: number): void
  /** Makes all ranks end the run after the same repetition. */
  abortRun(group: number, key: number): void
  /** Keeps the progress thread awake for `milliseconds` from now. */
  stayAwake(milliseconds: number): void
  /** Lets other threads that wait for this core go first. */
  yieldCore(): void
  /**
   * Tells the other ranks that this one makes no more calls of the group, or of any group, because of an
   * error with that code; an empty `reason` means that there is no error.
   */
  leave(group: number | undefined, code: GpuErrorCode, reason: string): void
  /** Tells the other ranks which calls this one has waited for too long. */
  sayWaiting(text: string): void
  /** Announces that this rank ends, so that the end of its connections does not count as a failure. */
  end(): void
  /** MPI_Finalize; waits for the other ranks. False after a failure. */
  finalize(): boolean
  /** MPI_Abort: ends all ranks. */
  abort(exitCode: number): void
}

export interface MpiLibrary {
  readonly path: string
  readonly family: MpiFamily
  /** The library's version text, one line. */
  readonly version: string
  /**
   * Whether messages may come from device memory; absent if the library does not report this, or does so only
   * once MPI is started.
   */
  readonly gpuAware?: boolean
}

/** What a started library reports about device memory, and the function or info key that reports it. */
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
  /** Nodes of the same repetition and of the previous one that must complete first. */
  readonly after: readonly number[]
  readonly afterPrevious: readonly number[]
}

/** Device work that JavaScript submits to the inner backend. */
export interface NativeSegment extends NativeNodeBase {
  readonly kind: 'segment'
}

/**
 * A message from or to memory: `rows` runs of `rowByteLength` bytes, `rowByteStride` apart. With no rows, the
 * message is empty.
 */
export interface NativeMessage extends NativeNodeBase, Extent {
  readonly kind: 'send' | 'receive'
  readonly peer: number
  readonly tag: number
  /**
   * Host memory, or device memory (`NativeAccess.address` of the inner backend). Messages of device memory
   * must be dense.
   */
  readonly memory: ArrayBuffer | DeviceMemory
}

export type NativeNode = NativeSegment | NativeMessage

const mpiPackage: AddonPackage = {
  name: '@tandem-gpu/backend-mpi',
  moduleUrl: import.meta.url,
  backend: 'mpi()',
}

/** Returns the addon, or the error if it does not load. */
export const nativeAddon = addonLoader<NativeAddon>(mpiPackage)

/**
 * The error if the addon does not load. In a clone that was built without the addon, the code is `no-driver`,
 * as without an MPI library, so that `adapters()` reports an absence; otherwise it is `unsupported`.
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

/** Resolves as a promise of the addon does; rejects with a GpuError. */
export async function settled<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise
  } catch (error) {
    throw toGpuError(error)
  }
}
