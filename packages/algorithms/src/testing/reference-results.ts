import { type ElementArray, elementArray } from '@tandem-gpu/core'
import type { ElementSource } from '../element-source.ts'
import type { MatmulShape, MatmulType } from '../matmul/matmul-shape.ts'
import { referenceRows } from '../matmul/verify/verify-matmul.ts'
import type { ReductionType } from '../reduction/reduction-kernels.ts'
import {
  combineParts,
  type ReductionProblem,
  type ReductionReference,
  reducePart,
} from '../reduction/reference-reduction.ts'

/** The product computed on the host: f64 sums rounded to f32, or modulo 2^32. */
export function referenceMatmul<T extends MatmulType>(
  type: T,
  { m, n, k }: MatmulShape,
  a: ElementArray<T>,
  b: ElementArray<T>,
): ElementArray<T> {
  const result = elementArray(type, m * n)
  result.set(referenceRows(type, m, n, k, a, b).value as never)
  return result
}

/** The reduction of the whole source. */
export async function referenceReduction<T extends ReductionType>(
  source: ElementSource<T>,
  problem: ReductionProblem & { readonly type: T },
): Promise<ReductionReference> {
  return combineParts(problem, [await reducePart(source, problem, 0, problem.length)])
}
