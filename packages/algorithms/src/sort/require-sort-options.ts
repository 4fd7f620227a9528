import { GpuError } from '@tandem-gpu/core'
import type { SortedValues } from './sort-form.ts'

/**
 * Returns which values move with the elements. Throws `validation` for options that contradict each other.
 */
export function requireSortOptions(options: {
  readonly elements: number
  readonly values?: unknown
  readonly valueType?: unknown
  readonly valuesOutput?: unknown
  readonly indices?: unknown
}): SortedValues {
  const { elements, values, valueType, valuesOutput, indices } = options
  if (elements > 4294967295)
    throw new GpuError('too-large', `A sort can have at most 4294967295 elements, not ${elements}.`)
  if (values === undefined) {
    for (const [name, option] of Object.entries({ valueType, valuesOutput }))
      if (option !== undefined)
        throw new GpuError('validation', `The option ${name} needs the option values.`)
    return indices === undefined ? 'none' : 'indices'
  }
  if (indices !== undefined)
    throw new GpuError(
      'validation',
      'The options values and indices exclude each other; set only one of them.',
    )
  return 'given'
}
