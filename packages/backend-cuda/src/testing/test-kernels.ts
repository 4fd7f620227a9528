import type { KernelSource } from '@tandem-gpu/core/backend'
import type { CudaParameter } from '@tandem-gpu/wgsl'
import type { Translated } from '../cuda-kernel.ts'

/**
 * Handwritten kernels in the translator's calling convention, so that the runtime's tests do not need a
 * translator.
 */
const sources: Readonly<Record<string, string>> = {
  // target[i] = source[i] + uniform
  add: `extern "C" __global__ void add(const unsigned *source, unsigned long long sourceBytes, unsigned *target, unsigned long long targetBytes, const unsigned *amount) {
  unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < sourceBytes / 4 && i < targetBytes / 4) target[i] = source[i] + *amount;
}`,
  // Records a trap at element 7 of binding 1.
  trapping: `extern "C" __global__ void trapping(const unsigned *source, unsigned long long sourceBytes, unsigned long long so, unsigned long long sb, unsigned long long sr, unsigned long long ss, unsigned *target, unsigned long long targetBytes, unsigned long long to, unsigned long long tb, unsigned long long tr, unsigned long long ts, const unsigned *amount, unsigned *trap) {
  if (blockIdx.x == 1 && threadIdx.x == 2 && trap[0] == 0) { trap[0] = 1; trap[1] = 1; trap[2] = 7; trap[4] = blockIdx.x; trap[7] = threadIdx.x; }
  target[0] = (unsigned) to; target[1] = (unsigned) tb; target[2] = (unsigned) tr; target[3] = (unsigned) ts;
}`,
  faulting: `extern "C" int fake_fault;
extern "C" __global__ void faulting(const unsigned *source, unsigned long long sourceBytes, unsigned *target, unsigned long long targetBytes, const unsigned *amount) { fake_fault = 700; }`,
  broken: `extern "C" __global__ void broken(const unsigned *source, unsigned long long sourceBytes, unsigned *target, unsigned long long targetBytes, const unsigned *amount) {
#line 5 "broken.wgsl"
  missing = 1;
}`,
}

const names = ['source', 'target', 'amount']

export function translateTestKernel({ label, bounds }: KernelSource): Translated {
  const parameters: CudaParameter[] = []
  const add = (kind: CudaParameter['kind'], bindingIndex: number | undefined) =>
    parameters.push({ kind, name: kind, type: 'unsigned long long', bindingIndex })
  for (const bindingIndex of [0, 1]) {
    add('storage', bindingIndex)
    add('byte-length', bindingIndex)
    if (bounds === 'trap') for (let word = 0; word < 4; word += 1) add('view', bindingIndex)
  }
  add('uniform', 2)
  if (bounds === 'trap') add('trap-record', undefined)
  return {
    source: sources[label]!,
    entryName: label,
    workgroupSize: [4, 1, 1],
    dynamicSharedByteLength: 0,
    parameters,
    lineMap: [],
    minimumComputeCapability: undefined,
  }
}

export function testKernelSource(label: string, bounds: KernelSource['bounds'] = 'clamp'): KernelSource {
  const bindings = names.map((name, binding) => ({ name, group: 0, binding }))
  return {
    label,
    wgsl: '',
    entryPoint: label,
    constants: {},
    bounds,
    reflection: { bindings, workgroupSize: [4, 1, 1] },
  } as unknown as KernelSource
}
