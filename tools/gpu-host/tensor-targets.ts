import type { BenchDocument, BenchResult } from '../../packages/cli/src/bench/document.ts'
import { cube, isOf, type Shape, type Target } from './targets.ts'

/** One measurement, with what was checked. */
export interface TensorResult extends BenchResult {
  readonly verification?: string
}

/** One line of tools/gpu-host/product-errors.py. */
export interface ProductErrors {
  readonly input: string
  readonly k: number
  readonly window: number
  readonly rms: Readonly<Record<string, number>>
  readonly largest: Readonly<Record<string, number>>
  readonly sameInfNaN: boolean
}

/** What tools/gpu-host/tensor-table.ts writes. */
export interface TensorDocument extends Omit<BenchDocument, 'kind'> {
  readonly kind: 'tensor'
  readonly ours: readonly TensorResult[]
  readonly errors?: readonly ProductErrors[]
  readonly targets: readonly Target[]
}

/** The measurement of a work by a variant, on one GPU where no other number is given. */
export function findResult(
  results: readonly BenchResult[],
  work: string,
  variant: string,
  shape: Shape,
  devices = 1,
): BenchResult | undefined {
  return results.find((result) => result.variant === variant && isOf(result, work, devices, shape))
}

/** Products of f16 with few rows or columns, both ways. */
export const narrowShapes = [64, 128, 256, 512].flatMap((size) => [
  { m: size, n: 8192, k: 8192 },
  { m: 8192, n: size, k: 8192 },
])

const describe = ({ m, n, k }: Shape) => (m === n && n === k ? `${m}` : `${m} × ${n} × ${k}`)

/** What was aimed at, against what a document holds; rows that were not measured are absent. */
export function tensorTargetsOf({
  ours,
  peers,
  errors = [],
}: Pick<TensorDocument, 'ours' | 'peers' | 'errors'>): Target[] {
  const targets: Target[] = []
  const ratio = (
    row: string,
    what: string,
    least: number,
    one: BenchResult | undefined,
    other: BenchResult | undefined,
  ) => {
    if (one === undefined || other === undefined) return undefined
    const value = one.rate / other.rate
    const unverified = one.verified && other.verified ? '' : ' (not verified)'
    targets.push({
      row,
      target: `≥ ${least} ${what}`,
      measured: `${value.toFixed(2)}${unverified}`,
      met: value >= least,
    })
    return value
  }
  const mine = (work: string, variant: string, shape: Shape, devices?: number) =>
    findResult(ours, work, variant, shape, devices)
  const theirs = (work: string, variant: string, shape: Shape) => findResult(peers, work, variant, shape)
  for (const [side, least] of [
    [4096, 1.7],
    [8192, 1.9],
    [16384, 1.9],
  ] as const)
    ratio(
      `f32 \`split\` ${side}`,
      '× cuBLAS f32',
      least,
      mine('gemm f32', 'cuda split', cube(side)),
      theirs('gemm f32', 'cuBLAS', cube(side)),
    )
  const several = Math.max(0, ...ours.map(({ devices }) => devices))
  for (const [mode, side, least] of [
    ['resident', 32768, 1.8],
    ['streamed', 32768, 1.6],
    ['streamed', 16384, 1.4],
    ['streamed', 8192, 1.1],
  ] as const)
    ratio(
      `f32 \`split\` ${mode} ${side}, ${several} GPUs`,
      '× `ieee`',
      least,
      mine(`gemm f32 ${mode}`, 'cuda split', cube(side), several),
      mine(`gemm f32 ${mode}`, 'cuda ieee', cube(side), several),
    )
  for (const shape of [cube(4096), cube(8192), ...narrowShapes])
    ratio(
      `f16 → f32 ${describe(shape)}`,
      'of cuBLAS',
      0.58,
      mine('gemm f16', 'cuda tensor', shape),
      theirs('gemm f16', 'cuBLAS', shape),
    )
  const both = (work: string, shape: Shape, variant = '') =>
    ['webgpu', 'cuda'].map((backend) => mine(work, `${backend}${variant}`, shape))
  const square: Shape = { rows: 16384, columns: 16384 }
  const copy = mine('copy of 16 bytes an invocation', 'webgpu', {})
  for (const work of ['transpose', 'jacobi, one sweep a pass']) {
    const [one, other] = both(work, square)
    if (one === undefined || other === undefined || copy === undefined) continue
    const [ofCuda, ofCopy] = [one.rate / other.rate, one.rate / copy.rate]
    targets.push({
      row: `WebGPU: ${work} 16384²`,
      target: '≥ 0.8 of CUDA, or ≥ 0.95 of a copy kernel there',
      measured: `${ofCuda.toFixed(2)} (${ofCopy.toFixed(2)} of the copy)${one.verified && other.verified ? '' : ' (not verified)'}`,
      met: ofCuda >= 0.8 || ofCopy >= 0.95,
    })
  }
  const [fused, fusedThere] = both('jacobi, fused', square)
  ratio('WebGPU: jacobi, fused 16384²', 'of CUDA', 0.6, fused, fusedThere)
  for (const shape of narrowShapes) {
    const [one, other] = both('gemm f32, narrow', shape, ' ieee')
    ratio(`WebGPU: f32 ${describe(shape)}`, 'of CUDA', 0.75, one, other)
  }
  for (const name of ['uniform ±1', 'uniform 0..1', 'normal', 'exponential']) {
    const measured = errors.filter(({ input, k }) => input === name && k >= 256)
    if (measured.length === 0) continue
    const ratios = measured.map(({ rms }) => rms.split! / rms['cuBLAS f32']!)
    const [least, largest] = [Math.min(...ratios), Math.max(...ratios)]
    targets.push({
      row: `error of \`split\`, ${name}, k ≥ 256`,
      target: "≤ 1 × cuBLAS f32's",
      measured: `${least.toFixed(2)} to ${largest.toFixed(2)}, the largest at ${measured[ratios.indexOf(largest)]!.k}`,
      met: largest <= 1,
    })
  }
  return targets
}
