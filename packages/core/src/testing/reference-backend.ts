import { cudaSubgroupMatrixConfigs } from '@tandem-gpu/wgsl'
import {
  type Adapter,
  type AdapterReport,
  type DeviceFeature,
  type DeviceLimits,
  portableLimits,
} from '../backend/adapter.ts'
import type { Backend } from '../backend/backend.ts'
import type { Handles } from '../backend/handles.ts'
import type { Runtime } from '../backend/runtime.ts'
import { requireCount } from '../buffers/view.ts'
import { requireOptions } from '../options.ts'
import type { Plan, PlanPart } from '../plan/plan.ts'
import { executeInRandomOrder } from './reference-execution.ts'
import { ReferenceRuntime } from './reference-runtime.ts'

/** Gives another plan to run in the place of the recorded one. */
export type TransformPlan = <H extends Handles>(plan: Plan<H, PlanPart>) => Plan<H, PlanPart>

/** Options of `referenceBackend`. */
export interface ReferenceBackendOptions {
  /** Adapters to offer; default 1 (a group may open it as any number of virtual devices). */
  readonly devices?: number | undefined
  /** Seed of the order of execution; default 1. */
  readonly seed?: number | undefined
  /** False: no device may access another's memory. Default true. */
  readonly peerAccess?: boolean | undefined
  /** Memory of each device; more is `out-of-memory`. Default 1 GiB. */
  readonly memoryByteLength?: number | undefined
  /** Replaces some of the adapters' limits. */
  readonly limits?: Partial<DeviceLimits> | undefined
  /** Replaces the adapters' features; default all that the reference executor has. */
  readonly features?: ReadonlySet<DeviceFeature> | undefined
}

/**
 * A backend on the CPU that runs each plan command by command, in a seeded random order that its edges allow.
 * In a group with `debug: true`, an access of a kernel outside the declared view rejects the run with
 * `validation`, which names kernel, binding and index; without, an access beyond the end of a view is clamped
 * to its binding. Memory that is not zeroed is poisoned. An edge that recording missed shows as a wrong result.
 */
export interface ReferenceBackend extends Backend<Runtime> {
  /** Applied to each plan when it runs: `(plan) => withoutEdge(plan, from, to)`, say. */
  transformPlan: TransformPlan | undefined
  /** Takes effect at the next run. */
  seed: number
  /** Calls of `Runtime.run` so far. */
  readonly runCalls: number
  /** All open devices are lost now. */
  lose(message: string): void
}

const referenceLimits: DeviceLimits = {
  ...portableLimits,
  maxBufferByteLength: 2 ** 31,
  maxStorageBindingByteLength: 2 ** 31 - 4,
  maxWorkgroupInvocations: 1024,
  maxWorkgroupSize: [1024, 1024, 64],
  maxWorkgroupMemoryByteLength: 49_152,
}

/** One device on the CPU. */
export function referenceAdapter(
  backend: string,
  index: number,
  memoryByteLength: number,
  limits: Partial<DeviceLimits> = {},
): Adapter {
  return {
    backend,
    id: `${backend}-${index}`,
    name: `CPU reference executor ${index}`,
    vendor: 'tandem',
    software: true,
    memoryByteLength,
    index,
    limits: { ...referenceLimits, ...limits },
    features: new Set([
      ...(['shader-f16', 'subgroups', 'timestamps', 'trap'] as const),
      'chromium-experimental-subgroup-matrix' as const,
    ]),
    subgroupMinSize: 32,
    subgroupMaxSize: 32,
    subgroupMatrixConfigs: cudaSubgroupMatrixConfigs,
  }
}

/** Makes a backend on the CPU, for tests; see `ReferenceBackend`. Throws `validation` for wrong options. */
export function referenceBackend(options: ReferenceBackendOptions = {}): ReferenceBackend {
  requireOptions(options, 'referenceBackend', referenceOptions)
  if (options.devices !== undefined) requireCount(options.devices, 'The option devices of referenceBackend')
  return new CpuReferenceBackend(options)
}

const referenceOptions = {
  devices: 'number',
  seed: 'number',
  peerAccess: 'boolean',
  memoryByteLength: 'number',
  limits: 'object',
  features: 'object',
} as const

class CpuReferenceBackend implements ReferenceBackend {
  readonly name = 'reference'
  transformPlan: TransformPlan | undefined
  seed: number
  runCalls = 0
  readonly #peerAccess: boolean
  readonly #memoryByteLength: number
  readonly #adapters: readonly Adapter[]
  readonly #open = new Set<ReferenceRuntime>()

  constructor(options: ReferenceBackendOptions) {
    this.seed = options.seed ?? 1
    this.#peerAccess = options.peerAccess ?? true
    this.#memoryByteLength = options.memoryByteLength ?? 2 ** 30
    this.#adapters = Array.from({ length: options.devices ?? 1 }, (_, index) =>
      referenceAdapter(this.name, index, this.#memoryByteLength, options.limits),
    ).map((adapter) => ({ ...adapter, features: options.features ?? adapter.features }))
  }

  async adapters(): Promise<AdapterReport> {
    if (this.#adapters.length > 0) return { adapters: this.#adapters }
    return {
      adapters: [],
      absence: { code: 'no-device', reason: 'The reference backend is set up with no devices.' },
    }
  }

  async open(adapters: readonly Adapter[]): Promise<Runtime> {
    const runtime = new ReferenceRuntime(adapters, {
      canAccessPeer: () => this.#peerAccess,
      memoryByteLength: this.#memoryByteLength,
      execute: (memory, execution) => {
        this.runCalls++
        const plan = this.transformPlan?.(memory.plan) ?? memory.plan
        return executeInRandomOrder({ ...memory, plan }, execution, this.seed)
      },
    })
    this.#open.add(runtime)
    void runtime.lost.then(() => this.#open.delete(runtime))
    return runtime
  }

  lose(message: string): void {
    for (const runtime of this.#open) runtime.lose(message)
  }
}
