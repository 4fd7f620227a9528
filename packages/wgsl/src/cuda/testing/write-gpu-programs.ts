// Writes the programs that packages/wgsl/src/cuda/testing/run-gpu-programs.sh builds and runs on a GPU:
//
//   node packages/wgsl/src/cuda/testing/write-gpu-programs.ts FOLDER
//     [--random 2000] [--composites 2000] [--collectives 2000]
//     [--long-functions 500] [--team-functions 500] [--first 0]
//
// The files random-N.cu, composites-N.cu, collectives-N.cu, long-functions-N.cu and team-functions-N.cu contain
// the given numbers of random kernels, starting at the seed `first`; corpus-N.cu contain the kernels of
// packages/wgsl/testdata and the generated ones. Running them does not need Node: they contain hashes of the
// reference executor's results.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { randomCollectives } from '../../testing/random-collectives.ts'
import { randomComposites } from '../../testing/random-composites.ts'
import { randomKernel } from '../../testing/random-kernel.ts'
import { randomLongFunctions } from '../../testing/random-long-functions.ts'
import { randomTeamFunctions } from '../../testing/random-team-functions.ts'
import { type GpuCase, gpuProgram } from './gpu-program.ts'
import { type KernelCase, kernelCase, loadKernelCases, referenceRun, translate } from './kernel-cases.ts'

const kernelsPerProgram = 40

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    random: { type: 'string', default: '2000' },
    composites: { type: 'string', default: '2000' },
    collectives: { type: 'string', default: '2000' },
    'long-functions': { type: 'string', default: '500' },
    'team-functions': { type: 'string', default: '500' },
    first: { type: 'string', default: '0' },
  },
})
const folder = positionals[0]
if (folder === undefined)
  throw new Error(
    'usage: write-gpu-programs.ts FOLDER [--random N] [--composites N] [--collectives N] [--long-functions N] [--team-functions N] [--first SEED]',
  )
mkdirSync(folder, { recursive: true })

/** Kernels whose floats need not be exactly equal are run, but not compared. */
function gpuCase(c: KernelCase): GpuCase {
  const { ulp, absolute, relative } = c.test.tolerance
  const hasFloats = c.test.buffers.some(({ scalar }) => scalar === 'f32' || scalar === 'f16')
  const isExact = ulp === 0 && absolute === 0 && relative === 0 && !hasFloats
  return {
    kernelCase: c,
    kernel: translate(c, 'clamp'),
    expected: isExact ? referenceRun(c) : undefined,
  }
}

function write(name: string, count: number, at: (i: number) => KernelCase): void {
  for (let from = 0, n = 0; from < count; from += kernelsPerProgram, n++) {
    const cases = Array.from({ length: Math.min(kernelsPerProgram, count - from) }, (_, i) =>
      gpuCase(at(from + i)),
    )
    writeFileSync(join(folder!, `${name}-${String(n).padStart(3, '0')}.cu`), gpuProgram(cases))
  }
}

const first = Number(values.first)
const generators = {
  random: randomKernel,
  composites: randomComposites,
  collectives: randomCollectives,
  'long-functions': randomLongFunctions,
  'team-functions': randomTeamFunctions,
}
for (const [name, generate] of Object.entries(generators))
  write(name, Number(values[name as keyof typeof generators]), (i) =>
    kernelCase(`${name} ${first + i}`, generate(first + i)),
  )
const corpus = loadKernelCases('cuda', 'accepted', 'generated')
write('corpus', corpus.length, (i) => corpus[i]!)
