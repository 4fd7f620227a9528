import { describeLink } from '@tandem-gpu/core/testing'
import { afterAll, beforeAll } from 'vitest'
import { cudaBackend } from './cuda.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'
import { translateTestKernel } from './testing/test-kernels.ts'

beforeAll(() => configureFake({ FAKE_CUDA_DEVICES: 3 }))
afterAll(() => configureFake())

const backend = () => cudaBackend({ libraries: fakeLibraries(), kernelCache: false }, translateTestKernel)
for (const link of ['nccl', 'gpu-aware']) describeLink('cuda on the fake driver', backend, link)
