import { generatedElements } from './element-source.ts'
import type { MatmulType } from './matmul/matmul-shape.ts'

/** Reproducible elements for the tests of products. Not part of the published package. */
export function random<T extends MatmulType>(type: T, length: number, seed: number) {
  const array =
    type === 'f32'
      ? new Float32Array(length)
      : type === 'i32'
        ? new Int32Array(length)
        : new Uint32Array(length)
  ;(generatedElements(type, seed) as (offset: number, into: typeof array) => void)(0, array)
  return array
}
