export { type CudaOptions, cuda } from './cuda.ts'
export type { KernelCacheOptions } from './kernel-cache.ts'
export { type ShippedKernels, shippedKernelKey } from './kernel-compiler.ts'
export type { Libraries } from './libraries.ts'
