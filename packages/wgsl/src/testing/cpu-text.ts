import type { CudaKernel } from '../cuda/kernel.ts'
import { fragmentsFor, preludeText } from '../cuda/prelude/link.ts'

/**
 * C++ of several kernels for the CPU, with one prelude for all, to stand after `native/tandem_cpu.hpp`. Each
 * is in a namespace `k0`, `k1`, … of its own, in one without a name: files of one program number their
 * kernels alike, and the linker could take one's functions for another's. `before` gives lines to stand
 * before each.
 */
export function cpuText(
  kernels: readonly CudaKernel[],
  before: (index: number) => string = () => '',
): string {
  const fragments = fragmentsFor(kernels.flatMap((k) => k.parts.preludeNames))
  return [
    'namespace wgsl {',
    preludeText(fragments, 'cpu'),
    ...kernels.map((k, i) => {
      const body = k.parts.body.replace('extern "C" __global__', 'static __global__')
      return `${before(i)}namespace k${i} { namespace {\n${body}\n} }`
    }),
    '}',
  ].join('\n')
}
