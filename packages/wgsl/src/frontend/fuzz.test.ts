import { describe, expect, it } from 'vitest'
import { lower, parseWgsl, WgslError } from '../index.ts'
import { corpus, corpusLines } from '../testing/corpus.ts'
import { openDawnOracle } from '../testing/dawn-oracle.ts'
import { mutatedSource } from '../testing/mutated-source.ts'
import { runPublicFunctions } from '../testing/public-functions.ts'
import { randomModule } from '../testing/random-module.ts'

const isLong = process.env.TANDEM_LONG === '1'
const dawn = await openDawnOracle()

/** The corpus that mutations start from; judgements are the bodies of `main`, or modules. */
const sources = corpus('accepted', 'rejected', 'cuda', 'generated').map(({ source }) => source)
for (const line of corpusLines('judgements.txt')) {
  const text = line.replaceAll('⏎', '\n')
  const header = `enable f16; enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {\n`
  sources.push(text.includes('@compute') ? text : `${header}${text}\n}`)
}

/** What is thrown that is no WgslError, as the first lines of its stack. */
function defectOf(source: string): string | undefined {
  try {
    runPublicFunctions(source)
    return undefined
  } catch (error) {
    return (error as Error).stack?.split('\n').slice(0, 3).join(' ')
  }
}

describe('every source ends in a result or a WgslError', () => {
  const count = isLong ? 50_000 : 1000
  it(`${count} mutations of the corpus`, () => {
    const defects: string[] = []
    for (let seed = 0; seed < count; seed++) {
      const defect = defectOf(mutatedSource(seed, sources))
      if (defect !== undefined) defects.push(`seed ${seed}: ${defect}`)
    }
    expect(defects).toEqual([])
  })

  it(`${count} modules drawn from the grammar`, () => {
    const defects: string[] = []
    for (let seed = 0; seed < count; seed++) {
      const defect = defectOf(randomModule(seed))
      if (defect !== undefined) defects.push(`seed ${seed}: ${defect}`)
    }
    expect(defects).toEqual([])
  })
})

describe('one source', () => {
  it('gives the same output, or the same error, in two runs', () => {
    const outcome = (source: string) => {
      const run = runPublicFunctions(source)
      return run.accepted ? run.text : run.error.message
    }
    for (let seed = 0; seed < (isLong ? 2000 : 100); seed++) {
      const drawn = [randomModule(seed), mutatedSource(seed, sources)]
      for (const source of drawn) expect(outcome(source), `seed ${seed}`).toBe(outcome(source))
    }
  })
})

describe('validity', () => {
  const count = isLong ? 10_000 : 300
  it.skipIf(dawn === undefined)(
    `of ${count} modules drawn from the grammar is as Dawn judges (needs npm webgpu)`,
    async () => {
      const different: string[] = []
      for (let seed = 0; seed < count; seed++) {
        const source = randomModule(seed)
        const [theirs] = await dawn!(source, 'main')
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
      expect(different).toEqual([])
    },
  )
})
