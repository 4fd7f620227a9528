import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { preludeFragments } from './prelude/link.ts'
import { hasProgram, kernelCase, referenceRun, translate } from './testing/kernel-cases.ts'
import { nvccPtx, ptxResults } from './testing/nvcc-ptx.ts'
import { parsePtx } from './testing/ptx.ts'

it.skipIf(!hasProgram('nvcc')).each([
  ['copies leave what lies behind them as it is', 'structure-part-copies', 'sm_90'],
  ['copies have all components', 'structure-components', 'sm_90'],
  ['copies have all parts in functions that take them', 'composite-parameters', 'sm_90'],
  ['copies keep their values when an overlapping view is written', 'buffer-view-copy', 'sm_90'],
  ['stores are seen by accesses to their neighbours', 'neighbours-in-structures', 'sm_90'],
  ['elements with equal indices are told apart', 'equal-indices', 'sm_100'],
  ['elements of different sizes in views of one place are told apart', 'vectors-in-views', 'sm_100'],
])("%s, in nvcc's PTX (needs nvcc)", { timeout: 600_000 }, (_, name, architecture) => {
  const file = new URL(`../../testdata/accepted/${name}.wgsl`, import.meta.url)
  const c = kernelCase(name, readFileSync(file, 'utf8'))
  const kernel = translate(c, 'clamp')
  const found = ptxResults(c, kernel, parsePtx(nvccPtx(kernel.source, architecture)))
  expect(found).toEqual(referenceRun(c))
})

it('no function of the prelude that returns a scalar takes a class as its first parameter by value', () => {
  const functions = preludeFragments.flatMap(({ source }) =>
    [...source.matchAll(/(?:WGSL_FN|__forceinline__) ([^(){};]+)\(([^(){}]*)\)[^(){};]*\{/g)].map(
      ([text, head = '', parameters = '']) => {
        const [, result = '', name = ''] = /^(.*?) ?(\S+)$/.exec(head.replace(/<[^<>]*>/g, ''))!
        return { text, result, name, parameters }
      },
    ),
  )
  const isClass = /^(vec<\w+, \w+>|vec\d[fiuhb]|mat<\w+, \w+, \w+>|array<\w+, \w+>|f16|T|From) \w+/
  const taking = functions.filter(({ parameters }) => isClass.test(parameters))
  expect(taking.length).toBeGreaterThan(100)
  const ofHalf = functions.filter(({ parameters }) => /^const (f16|vec<f16, 2>)& /.test(parameters))
  const byReference = new Set(ofHalf.map(({ name }) => name))
  const wrong = taking.filter(({ result, name, parameters }) => {
    if (/^(vec|mat|array|f16|M|Result|auto)/.test(result)) return false
    // What returns the type of its first parameter returns a scalar only if it takes one. The other templates
    // for scalars have another form for those classes that they may take; `of` is called by `convert`.
    if (/^T /.test(parameters)) return result !== 'T' && !byReference.has(name)
    return !/^From /.test(parameters) || !(byReference.has(name) || name === 'of')
  })
  expect(wrong.map(({ text }) => text)).toEqual([])
})
