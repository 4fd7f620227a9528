import type { CudaKernel } from '../kernel.ts'
import { fragmentsFor, preludeText } from '../prelude/link.ts'
import type { KernelCase } from './kernel-cases.ts'

/** FNV-1a of 64 bits, in hexadecimal. */
export function bytesHash(bytes: Uint8Array): string {
  let [high, low] = [0xcbf29ce4, 0x84222325]
  for (const byte of bytes) {
    low = (low ^ byte) >>> 0
    // Times 0x100000001b3.
    const product = low * 0x1b3
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0
    low = product >>> 0
  }
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')
}

/**
 * A case for the GPU, with the expected contents of its writable buffers; undefined if the tolerance is not
 * 0, since the case is then only run.
 */
export interface GpuCase {
  readonly kernelCase: KernelCase
  readonly kernel: CudaKernel
  readonly expected: readonly Uint8Array[] | undefined
}

/**
 * CUDA C++ of a program that runs each case once, after a kernel that fills the workgroup memory of every
 * multiprocessor with garbage, and prints a line for each case whose buffers are not as expected. Each buffer
 * is a separate allocation, so that `compute-sanitizer` detects out-of-bounds accesses. Built with nvcc, for
 * compute capability 8.0 and higher.
 */
export function gpuProgram(cases: readonly GpuCase[]): string {
  const fragments = fragmentsFor(cases.flatMap(({ kernel }) => kernel.parts.preludeNames))
  const inputs = new Map<string, string>()
  const inputName = (bytes: Uint8Array) => {
    const text = Array.from(new Uint32Array(bytes.slice().buffer, 0, bytes.byteLength >> 2), (w) => `${w}u`)
    const tail = Array.from(bytes.slice(bytes.byteLength & ~3), (b) => `${b}u`)
    const key = `{${[...text, tail.length > 0 ? `0u /* ${tail.join()} */` : '', '0u'].filter((t) => t !== '').join(',')}}`
    const name = inputs.get(key) ?? `input${inputs.size}`
    inputs.set(key, name)
    return name
  }
  const runs = cases.map(({ kernelCase, kernel, expected }, i) => {
    const { inputs: bound, test, name } = kernelCase
    const lines = bound.map(({ bytes }, b) => `  buffer b${b}(${inputName(bytes)}, ${bytes.byteLength}u);`)
    const argumentTexts = kernel.parameters.map((p) => {
      const b = p.bindingIndex!
      const { byteLength } = bound[b]!.bytes
      if (p.kind === 'storage' || p.kind === 'uniform') return `b${b}`
      if (p.kind === 'byte-length' || p.name.endsWith('rowbytes') || p.name.endsWith('rowstride'))
        return `${byteLength}u`
      return p.name.endsWith('rows') ? '1u' : '0u'
    })
    const entry = `wgsl::k${i}::${kernel.entryName}`
    const dynamic = kernel.dynamicSharedByteLength
    if (dynamic > 0)
      lines.push(`  cudaFuncSetAttribute(${entry}, cudaFuncAttributeMaxDynamicSharedMemorySize, ${dynamic});`)
    lines.push('  poison();')
    lines.push(
      `  ${entry}<<<dim3(${test.workgroups.join(', ')}), dim3(${kernel.workgroupSize.join(', ')}), ${dynamic}>>>(${argumentTexts.join(', ')});`,
      `  ran("${name}");`,
    )
    for (const [b, { binding, buffer }] of bound.entries())
      if (expected !== undefined && buffer !== undefined && binding.access !== 'read')
        lines.push(`  b${b}.compare("${name}", "${binding.name}", 0x${bytesHash(expected[b]!)}ull);`)
    return `static void run${i}() {\n${lines.join('\n')}\n}`
  })
  const isPlain = cases.some(({ kernel }) => kernel.ptxasLevel === 0)
  return `// nvcc -Xptxas ${isPlain ? '-O0' : '-O2'}
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
namespace wgsl {
${preludeText(fragments, 'cuda')}
${cases.map(({ kernel }, i) => `namespace k${i} { namespace {\n${kernel.parts.body.replace('extern "C" __global__', '__global__')}\n} }`).join('\n')}
}
static unsigned differ = 0;
static void stop(const char* what, cudaError_t error) {
  printf("%s: %s\\n", what, cudaGetErrorString(error));
  exit(2);
}
static void ran(const char* name) {
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error != cudaSuccess) stop(name, error);
}
__global__ void poison_memory(unsigned words) {
  extern __shared__ volatile unsigned rubbish[];
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) rubbish[i] = 0xa5a5a5a5u ^ i * 2654435761u;
}
static void poison() {
  static int bytes = 0, processors = 0;
  if (bytes == 0) {
    cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    cudaFuncSetAttribute(poison_memory, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  }
  poison_memory<<<processors, 1024, bytes>>>(bytes / 4);
  ran("the kernel that poisons workgroup memory");
}
struct buffer {
  void* memory = nullptr;
  size_t bytes;
  buffer(const unsigned* from, size_t count) : bytes(count) {
    cudaError_t error = cudaMalloc(&memory, bytes > 0 ? bytes : 4);
    if (error == cudaSuccess) error = cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice);
    if (error != cudaSuccess) stop("a buffer", error);
  }
  ~buffer() { cudaFree(memory); }
  template <class T> operator T*() const { return static_cast<T*>(memory); }
  void compare(const char* name, const char* variable, unsigned long long expected) {
    unsigned char* seen = static_cast<unsigned char*>(malloc(bytes + 1));
    const cudaError_t error = cudaMemcpy(seen, memory, bytes, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) stop(name, error);
    unsigned long long hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ seen[i]) * 0x100000001b3ull;
    free(seen);
    if (hash == expected) return;
    differ++;
    printf("%s: %s differs\\n", name, variable);
  }
};
${[...inputs].map(([words, name]) => `static const unsigned ${name}[] = ${words};`).join('\n')}
${runs.join('\n')}
int main() {
${cases.map((_, i) => `  run${i}();`).join('\n')}
  printf("${cases.length} kernels, %u buffers differ\\n", differ);
  return differ > 0;
}
`
}
