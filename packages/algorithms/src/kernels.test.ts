import { expect, it } from 'vitest'
import { algorithmSources } from './kernel-sources.ts'
import { hasSplitProducts } from './matmul/tensor/split-kernels.ts'
import { describeOnBackends } from './testing-groups.ts'

describeOnBackends('every kernel', (backend) => {
  it('compiles and has a unique label', async () => {
    const group = await backend.group(1)
    const all = algorithmSources(group.devices)
    expect(new Set(all.map((source) => source.label)).size).toBe(all.length)
    // A CPU adapter takes up to a second to compile a kernel. Other tests run the other types and operations.
    const sources = backend.name === 'webgpu' ? all.filter(({ label }) => label!.includes('sum f32')) : all
    expect(sources.length).toBeGreaterThan(3)
    const subgroups = group.devices[0]!.features.has('subgroups')
    const matrices = hasSplitProducts(group.devices[0]!)
    const possible = sources.filter(
      ({ wgsl }) =>
        (subgroups || !wgsl.startsWith('enable subgroups')) &&
        (matrices || !wgsl.includes('enable chromium_experimental_subgroup_matrix')),
    )
    const kernels = await Promise.all(possible.map((source) => group.compile(source)))
    for (const kernel of kernels) kernel.destroy()
  })
})
