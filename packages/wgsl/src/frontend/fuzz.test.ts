import { describe, expect, it } from 'vitest'
import { lower, parseWgsl, WgslError } from '../index.ts'
import { corpus, corpusLines } from '../testing/corpus.ts'
import { openDawnOracle } from '../testing/dawn-oracle.ts'
import { mutatedSource } from '../testing/mutated-source.ts'
import { runPublicFunctions } from '../testing/public-functions.ts'
import { randomModule } from '../testing/random-module.ts'
import { testCases } from '../testing/test-cases.ts'

const dawn = await openDawnOracle()

/** The corpus that mutations start from; the lines of judgements.txt are bodies of `main` or modules. */
const sources = corpus('accepted', 'rejected', 'cuda', 'generated').map(({ source }) => source)
for (const line of corpusLines('judgements.txt')) {
  const text = line.replaceAll('⏎', '\n')
  const header = `enable f16; enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {\n`
  sources.push(text.includes('@compute') ? text : `${header}${text}\n}`)
}

/** The first lines of the stack of an error that is not a WgslError. */
function defectOf(source: string): string | undefined {
  try {
    runPublicFunctions(source)
    return undefined
  } catch (error) {
    return (error as Error).stack?.split('\n').slice(0, 3).join(' ')
  }
}

describe('every source ends in a result or a WgslError', () => {
  it.for([
    ['mutations of the corpus', (seed: number) => mutatedSource(seed, sources)],
    ['modules drawn from the grammar', randomModule],
  ] as const)('%s', ([, sourceOf], { task }) => {
    const seeds = testCases(400, 50_000)
    const defects: string[] = []
    for (const seed of seeds) {
      const defect = defectOf(sourceOf(seed))
      if (defect !== undefined) defects.push(`seed ${seed}: ${defect}`)
    }
    task.meta.cases = seeds.length
    expect(defects).toEqual([])
  })
})

describe('one source', () => {
  it('gives the same output, or the same error, in two runs', ({ task }) => {
    const outcome = (source: string) => {
      const run = runPublicFunctions(source)
      return run.accepted ? run.text : run.error.message
    }
    const seeds = testCases(50, 2000)
    for (const seed of seeds) {
      const drawn = [randomModule(seed), mutatedSource(seed, sources)]
      for (const source of drawn) expect(outcome(source), `seed ${seed}`).toBe(outcome(source))
    }
    task.meta.cases = seeds.length
  })
})

describe('validity', () => {
  it.skipIf(dawn === undefined)(
    'of modules drawn from the grammar agrees with Dawn (needs npm webgpu)',
    async ({ task }) => {
      const seeds = testCases(150, 10_000)
      const different: string[] = []
      let accepted = 0
      for (const seed of seeds) {
        const source = randomModule(seed)
        const [theirs] = await dawn!(source, 'main')
        if (theirs === undefined) accepted++
        let ours: string | undefined
        try {
          lower(parseWgsl(source), { entryPoint: 'main' })
        } catch (error) {
          expect(error, `seed ${seed}`).toBeInstanceOf(WgslError)
          ours = (error as WgslError).message
        }
        if ((theirs === undefined) !== (ours === undefined))
          different.push(`seed ${seed}\n  Dawn: ${theirs}\n  ours: ${ours}`)
      }
      task.meta.cases = seeds.length
      expect(different).toEqual([])
      // The comparison is meaningful only if both verdicts are common.
      expect(accepted).toBeGreaterThan(seeds.length / 5)
      expect(accepted).toBeLessThan(seeds.length * 0.8)
    },
  )
})
