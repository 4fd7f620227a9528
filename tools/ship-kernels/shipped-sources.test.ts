import { findInvocationAccesses } from '@tandem-gpu/wgsl'
import { expect, it } from 'vitest'
import { shippedModules } from './shipped-sources.ts'

it('no kernel of the algorithms reaches an element at its global_invocation_id unguarded, which debug would name', () => {
  const modules = shippedModules()
  expect(modules.length).toBeGreaterThan(100)
  const named = modules.filter(({ module }) => findInvocationAccesses(module).length > 0)
  expect(named.map(({ label }) => label)).toEqual([])
})
