import type { BenchResult } from '../../packages/cli/src/bench/document.ts'

/** Sizes by name, as in results. */
export type Shape = Readonly<Record<string, number>>

export const square = (side: number) => ({ rows: side, columns: side })
export const cube = (side: number) => ({ m: side, n: side, k: side })

/** Products with few rows or few columns. */
export const narrowShapes = [64, 128, 256, 512].flatMap((size) => [
  { m: size, n: 8192, k: 8192 },
  { m: 8192, n: size, k: 8192 },
])

interface Measured {
  readonly date: string
  readonly commit: string
}

interface OfDevices extends Measured {
  readonly schema: 1
  readonly machine: Readonly<Record<string, unknown>>
}

/** One measurement, with a description of its check. */
export interface TableResult extends BenchResult {
  readonly verification?: string
}

/** The document that table.ts writes. For products on tensor cores, the kind is `tensor`. */
export interface BenchTable extends OfDevices {
  readonly kind: 'bench' | 'tensor'
  readonly ours: readonly TableResult[]
  readonly peers: readonly BenchResult[]
  readonly host?: HostCost
  readonly errors?: readonly ProductErrors[]
  readonly rings?: readonly RingCost[]
  readonly runs?: readonly RunCost[]
  readonly bits?: Readonly<Record<string, string>>
}

/** The host's overhead, in seconds. */
export interface HostCost {
  readonly devices: number
  /** `openGroup` in a fresh process; like the next one, only for CUDA. */
  readonly firstOpenSeconds?: number
  /** A C program that only initializes the driver, the contexts and peer access (tools/peers/contexts.c). */
  readonly contextSeconds?: number
  /** Recording a transpose of 8192² on all devices; the median of 20. */
  readonly recordSeconds: number
  /** One call of `run(program, 1000)`, by the host's clock and by the device's. */
  readonly runHostSeconds: number
  readonly runDeviceSeconds: number
}

/** The seconds of a product on a ring of devices whose slices are sent from device to device. */
export interface RingCost {
  readonly side: number
  readonly seconds: number
  /** The same program without its messages, one step after another; its result is wrong. */
  readonly withoutMessages: number
  /** Only the messages. */
  readonly messages: number
  /** The fraction of the messages' time that the program hides. */
  readonly hidden: number
}

/**
 * One call of `run(program, repetitions)`: the median of its seconds by the device's clock, and of the
 * additional time that the caller waits.
 */
export interface RunCost {
  readonly program: string
  readonly repetitions: number
  readonly seconds: number
  readonly added: number
}

/** One line of tools/gpu-host/product-errors.py. */
export interface ProductErrors {
  readonly input: string
  readonly k: number
  readonly window: number
  readonly rms: Readonly<Record<string, number>>
  readonly largest: Readonly<Record<string, number>>
}

/**
 * Seconds of one piece of work (for Jacobi, of one sweep) in one way: `one` process, a transport between
 * processes, or an NVIDIA sample.
 */
export interface RankResult {
  readonly work: string
  readonly size: number
  readonly way: string
  /** The median over the rounds. */
  readonly seconds: number
  readonly rounds: readonly number[]
}

/** The document that table.ts writes with --ways. */
export interface RankTable extends OfDevices {
  readonly kind: 'ranks'
  /** The number of processes, each with one GPU. */
  readonly ranks: number
  readonly results: readonly RankResult[]
  /** One for each round. */
  readonly rings: readonly { readonly way: string; readonly cost: RingCost }[]
  readonly runs: readonly { readonly way: string; readonly cost: RunCost }[]
  readonly failures: readonly string[]
}

/**
 * One measured time of scans, histograms, sorts and transforms: a line of primitives.ts, tools/peers/cub.cu
 * or tools/peers/primitives.py.
 */
export interface PrimitivesFigure {
  readonly work: string
  /** `Tandem`, or the name of the peer. */
  readonly by: string
  readonly elements: number
  readonly devices: number
  /** How the devices exchange data if each belongs to another process. */
  readonly transport?: string
  /** Absent if the devices cannot do this work. */
  readonly seconds?: number
  /** The code of the error in that case. */
  readonly impossible?: string
}

/** The document of primitives.ts and its peers. */
export interface PrimitivesTable extends Measured {
  readonly kind: 'primitives'
  readonly machine: string
  readonly results: readonly PrimitivesFigure[]
}

/**
 * The document that packages/webgpu-api/src/calls.bench.ts writes, with the machine and the commit. Times are
 * in microseconds.
 */
export interface ApiTable extends Measured {
  readonly kind: 'webgpu-api'
  readonly machine: string
  readonly rows: readonly { readonly name: string; readonly tandem: number; readonly dawn: number }[]
}

/**
 * The measurement of a work and a shape with these sizes, whose variant is `variant` or, if that begins with
 * a blank, ends with it.
 */
export function findResult(
  results: readonly BenchResult[],
  work: string,
  variant: string,
  shape: Shape,
  devices = 1,
): BenchResult | undefined {
  return results.find(
    (result) =>
      result.work === work &&
      result.devices === devices &&
      (variant.startsWith(' ') ? result.variant.endsWith(variant) : result.variant === variant) &&
      Object.entries(shape).every(([name, value]) => result.shape[name] === value),
  )
}

/** The median of at least one measurement; for an even number, the mean of the two in the middle. */
export function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
}
