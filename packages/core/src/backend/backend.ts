import type { Adapter, AdapterReport, Topology } from './adapter.ts'
import type { Link } from './links.ts'
import type { OpenedRuntime, OpenOptions } from './runtime.ts'

/**
 * The boundary between core and a backend. Core validates, records and derives order; a backend translates. A
 * backend may assume that every argument is valid: sizes are positive, regions are inside their buffers, and
 * nothing is destroyed while in use. After a loss only `dispose` and `live` are called on the runtime, after
 * `dispose` only `live`.
 *
 * `R` is `Runtime` if the backend has one process.
 */
export interface Backend<R extends OpenedRuntime = OpenedRuntime> {
  readonly name: string
  /**
   * Lists the adapters that can be opened here. A missing driver, library, package or addon is not an error:
   * `absence` describes it. Rejects if the backend's installation is broken.
   */
  adapters(): Promise<AdapterReport>
  /**
   * One runtime over all `adapters`, in order: device ordinal i is `adapters[i]`. An adapter that is listed
   * twice becomes two virtual devices.
   */
  open(adapters: readonly Adapter[], options?: OpenOptions): Promise<R>
  /** Links between the adapters, if the backend knows them. */
  readonly topology?: (() => Promise<Topology>) | undefined
  /**
   * For a backend over several processes around this one: the ways to access devices of other processes, the
   * fastest first.
   */
  readonly links?: readonly Link[] | undefined
}
