export { programText } from '../cuda/testing/cpu-program.ts'
export { compareBuffers } from './compare-buffers.ts'
export { fillBuffer, readBuffer } from './kernel-buffers.ts'
export { type KernelBuffer, type KernelTest, parseKernelTest, type Tolerance } from './kernel-test.ts'
