import { type HostBuffer, requireCount } from '@tandem-gpu/core'
import {
  type ElementReader,
  type ElementSink,
  type ElementSource,
  generatedElements,
  requireElements,
} from '../element-source.ts'
import { elementsOption } from '../option-types.ts'
import type { MatmulShape, MatmulType } from './matmul-shape.ts'

/** `S`: the accepted forms of operands. */
export interface ProductOptions<T extends MatmulType, S> extends MatmulShape {
  readonly type?: T | undefined
  readonly a?: S | undefined
  readonly b?: S | undefined
  readonly output?: ElementSink<T> | HostBuffer<T> | undefined
  readonly seed?: number | undefined
}

/** The types of a product's options, as `requireArguments` accepts them. */
export const productOptionTypes = {
  m: 'number',
  n: 'number',
  k: 'number',
  type: ['f32', 'i32', 'u32'],
  a: elementsOption,
  b: elementsOption,
  output: elementsOption,
} as const

/**
 * Returns shape, type (default f32) and operands of a product; missing operands are random elements from
 * `seed` (default 1). Throws `validation` for sizes that are not non-negative integers, and for arrays with
 * the wrong element type or a length that does not match the shape. `hosts`: whether operands and result may
 * be host memory.
 */
export function productOperands<T extends MatmulType, S extends ElementSource<T> | HostBuffer<T>>(
  options: ProductOptions<T, S>,
  hosts: boolean,
) {
  const { m, n, k, type = 'f32' as T, seed = 1, output } = options
  const shape: MatmulShape = { m, n, k }
  for (const [name, value] of Object.entries(shape)) requireCount(value, `The option ${name}`)
  const a = options.a ?? (generatedElements(type, seed) as ElementReader<T>)
  const b = options.b ?? (generatedElements(type, seed + 1) as ElementReader<T>)
  requireElements('A', a, type, m * k, hosts)
  requireElements('B', b, type, k * n, hosts)
  if (output) requireElements('C', output, type, m * n, hosts)
  return { type, shape, a, b }
}
