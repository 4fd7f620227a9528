import type { CudaKernel } from '../cuda/kernel.ts'
import { fragmentsFor, preludeText } from '../cuda/prelude/link.ts'

/**
 * C++ of several kernels for the CPU, with one prelude for all, to be placed after `native/tandem_cpu.hpp`.
 * Each kernel has a namespace `k0`, `k1`, … inside an unnamed namespace: the files of one program number
 * their kernels alike, and the linker could confuse functions with the same name. `before` returns lines to
 * place before each kernel.
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
