import type { BufferView, ElementType } from '@tandem-gpu/core'
import { invalid } from './require-result.ts'

/**
 * Throws `validation` unless each of the named options has a part for each part of the input, of the same
 * length and on the same device, with elements of the given type.
 */
export function requireParts(
  input: readonly BufferView[],
  options: Readonly<
    Record<string, { readonly views: readonly BufferView[] | undefined; readonly type: ElementType }>
  >,
): void {
  for (const [name, { views, type }] of Object.entries(options)) {
    if (views?.length !== input.length)
      throw invalid(
        `The option input has ${input.length} parts, but the option ${name} has ${views?.length ?? 'none'}; it needs the same number.`,
      )
    for (const [index, { buffer, length }] of views.entries()) {
      const like = input[index]!
      if (buffer.type !== type)
        throw invalid(`Part ${index} of the option ${name} has type ${buffer.type}; it needs ${type}.`)
      if (length !== like.length || buffer.device.ordinal !== like.buffer.device.ordinal)
        throw invalid(
          `Part ${index} of the option ${name} has ${length} elements on device ${buffer.device.ordinal}; it needs ${like.length} on device ${like.buffer.device.ordinal}, like that part of the input.`,
        )
    }
  }
}
