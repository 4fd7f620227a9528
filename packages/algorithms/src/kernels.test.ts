import { expect, it } from 'vitest'
import { hasSplitProducts } from './matmul/tensor/split-kernels.ts'
import { scanSources } from './scan/scan-kernels.ts'
import { sortSources } from './sort/sort-kernels.ts'
import { algorithmSources } from './testing/algorithms.ts'
import { describeOnBackends } from './testing-groups.ts'

describeOnBackends('every kernel', (backend) => {
  it('compiles and has a unique label', async () => {
    const group = await backend.group(1)
    const all = algorithmSources(backend.name === 'cuda' ? undefined : group.devices)
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
    // As the algorithms compile them.
    const kernels = await Promise.all(
      possible.map((source) => group.compile({ ...source, terminates: true })),
    )
    for (const kernel of kernels) kernel.destroy()
  })
})

/**
 * Variables that a loop declares without an initializer. WGSL clears them each time, but Dawn clears them
 * once (so did wgpu, gfx-rs/wgpu#9489): a kernel must write them before it reads them.
 */
function clearedByLoops(wgsl: string): string[] {
  const found: string[] = []
  const isLoop: boolean[] = []
  let header = ''
  for (const [, token] of wgsl.replace(/\/\/.*/g, '').matchAll(/([{};]|[^{};]+)/g)) {
    if (token === '{') isLoop.push(/^\s*(for|while|loop)\b/.test(header))
    if (token === '}') isLoop.pop()
    // The header of a `for` has semicolons itself.
    const isOpen = /^\s*for\b[^{]*$/.test(header) && token !== '{' && token !== '}'
    header = isOpen ? header + token : token === ';' || token === '{' || token === '}' ? '' : header + token!
    const declared = /^\s*var\s+(\w+\s*:[^=]*)$/.exec(header)
    if (declared && isLoop.includes(true)) found.push(declared[1]!.trim())
  }
  return found
}

it('no kernel relies on a loop that clears a variable', () => {
  const sources = [...algorithmSources(), ...scanSources(), ...sortSources()]
  // Each of these is written before it is read.
  expect([...new Set(sources.flatMap(({ wgsl }) => clearedByLoops(wgsl)))].sort()).toEqual([
    'below: array<u32, 8>',
    'high: array<Right, 2>',
    'low: array<Right, 2>',
    'own: Line',
    'own: array<u32, 8>',
    'own: array<u32, EACH>',
    'ranks: array<u32, 8>',
    'sums: array<u32, 8>',
    'x: array<f32, 8>',
    'y: array<f32, 8>',
  ])
})
