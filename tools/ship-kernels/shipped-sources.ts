import { shippedKernelKey } from '@tandem-gpu/backend-cuda'
import { emitCuda, lower, parseWgsl } from '@tandem-gpu/wgsl'
import { algorithmSources } from '../../packages/algorithms/src/testing/algorithms.ts'

/**
 * The oldest architecture for which nvcc 13 compiles, and the first in which kernels have asynchronous
 * copies. Drivers compile PTX for newer GPUs.
 */
export const architectures = [75, 80] as const

/** CUDA C++ that is shipped compiled. */
export interface ShippedSource {
  /** The key by which `shippedKernels` of `cuda()` finds it. */
  readonly key: string
  readonly label: string
  readonly source: string
  readonly architecture: (typeof architectures)[number]
}

let translated: readonly ShippedSource[] | undefined

/**
 * Every kernel of the algorithms, once for each architecture for which its text compiles to different code.
 */
export function shippedSources(): readonly ShippedSource[] {
  translated ??= translateSources()
  return translated
}

/** Every kernel of the algorithms. */
export function shippedModules() {
  return algorithmSources().map(
    ({
      label = 'kernel',
      wgsl,
      entryPoint,
      constants = {},
      bounds = 'clamp',
      workgroupsPerMultiprocessor,
    }) => ({
      label,
      wgsl,
      bounds,
      workgroupsPerMultiprocessor,
      module: lower(parseWgsl(wgsl, { label }), { entryPoint, constants }),
    }),
  )
}

function translateSources(): ShippedSource[] {
  const [oldest, asynchronous] = architectures
  const all = shippedModules().flatMap(({ label, wgsl, bounds, workgroupsPerMultiprocessor, module }) => {
    const options = { bounds, label, stoppable: 'start' as const, workgroupsPerMultiprocessor }
    const { source, ptxasLevel } = emitCuda(module, options)
    if (ptxasLevel !== 3)
      throw new Error(`'${label}' has functions that are not inlined, and drivers optimize shipped PTX.`)
    // Older tensor cores do not support matrices of these sizes.
    const multiplies = wgsl.includes('enable chromium_experimental_subgroup_matrix')
    const copies = source.includes('async_copy(')
    const needed = multiplies ? [asynchronous] : copies ? [oldest, asynchronous] : [oldest]
    return needed.map((architecture) => ({
      key: shippedKernelKey(source, architecture === asynchronous),
      label,
      source,
      architecture,
    }))
  })
  return [...new Map(all.map((source) => [source.key, source])).values()]
}
