import { expect, it } from 'vitest'
import { builtinFunctions } from '../builtin-functions.ts'
import { loadKernelCases } from '../cuda/testing/kernel-cases.ts'
import { walk } from '../walk.ts'

/** SwiftShader does not support these; `atomic-vec2u.test.ts` runs them. */
const elsewhere = new Set(['atomicStoreMin', 'atomicStoreMax'])

it('a kernel that runs on every implementation calls each built-in function with values known only at run time', () => {
  const called = new Set<string>()
  for (const { module } of loadKernelCases('cuda', 'accepted', 'generated'))
    walk(module, {
      expression: (e) => {
        if (e.kind === 'builtin-call') called.add(e.name)
      },
    })
  expect(builtinFunctions.filter((name) => !called.has(name) && !elsewhere.has(name))).toEqual([])
})
