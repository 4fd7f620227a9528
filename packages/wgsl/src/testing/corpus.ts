import { readdirSync, readFileSync } from 'node:fs'
import type { TestKernel } from './generated-kernels/elementwise.ts'
import { generatedKernels } from './generated-kernels/generated-kernels.ts'

const testdata = new URL('../../testdata/', import.meta.url)

/** A part of the corpus: a folder of `testdata` with sources, or the generated kernels. */
export type CorpusPart = 'accepted' | 'rejected' | 'cuda' | 'generated'

/** The sources of parts of the corpus, by name. */
export function corpus(...parts: readonly CorpusPart[]): TestKernel[] {
  return parts.flatMap((part) =>
    part === 'generated'
      ? generatedKernels()
      : readdirSync(new URL(part, testdata))
          .filter((file) => file.endsWith('.wgsl'))
          .map((file) => ({
            name: file,
            source: readFileSync(new URL(`${part}/${file}`, testdata), 'utf8'),
          })),
  )
}

/** The lines of a table in `testdata`. */
export function corpusLines(file: string): string[] {
  return readFileSync(new URL(file, testdata), 'utf8').trimEnd().split('\n')
}
