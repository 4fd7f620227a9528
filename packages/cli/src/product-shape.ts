import type { Command } from 'commander'
import type { InputFile } from './array-files.ts'
import { UsageError } from './exit-code.ts'
import { wholeNumber } from './group-options.ts'
import type { FileElementType } from './npy/element-conversion.ts'

/** The sizes and the files of a product of matrices. */
export interface ProductShapeOptions {
  readonly m?: number
  readonly k?: number
  readonly n?: number
  readonly a?: string
  readonly b?: string
}

/** The side of the matrices if neither options nor files give sizes. */
const defaultSide = 512

export function addProductShapeOptions(command: Command): Command {
  return command
    .option(
      '--n <n>',
      `columns of B; also the default of --m and --k (default ${defaultSide}, or the file’s)`,
      wholeNumber(0),
    )
    .option('--m <n>', 'rows of A (default: --n, or the file’s)', wholeNumber(0))
    .option('--k <n>', 'columns of A and rows of B (default: --n, or the files’)', wholeNumber(0))
    .option('--a <file>', 'read A from this .npy file instead of generating it')
    .option('--b <file>', 'read B from this .npy file instead of generating it')
}

/** The sizes from the files and from the options. A size that both give must be the same. */
export function productShape<T extends FileElementType>(
  options: ProductShapeOptions,
  a: InputFile<T> | undefined,
  b: InputFile<T> | undefined,
) {
  const [m, k] = a?.matrixShape() ?? []
  const [rowsOfB, n] = b?.matrixShape() ?? []
  if (a && b && k !== rowsOfB)
    throw new UsageError(
      `A (${a.name}) is ${m} × ${k} and B (${b.name}) is ${rowsOfB} × ${n}: A needs as many columns as B has rows.`,
      'bad-input',
    )
  const agreed = (name: 'm' | 'k' | 'n', held: number | undefined) => {
    const asked = options[name]
    if (held !== undefined && asked !== undefined && held !== asked)
      throw new UsageError(`--${name} is ${asked}, but according to the file it is ${held}.`)
    return held ?? asked ?? options.n ?? defaultSide
  }
  return { m: agreed('m', m), k: agreed('k', k ?? rowsOfB), n: agreed('n', n) }
}
