import typegpu from 'unplugin-typegpu/vite'
import { mergeConfig } from 'vitest/config'
import { tandemVitest } from '../vitest.ts'

const include = ['*.library.ts']
const onCuda = { name: 'libraries on CUDA', include, env: { TANDEM_TEST_BACKEND: 'fake-cuda' } }

// `npm run test:libraries` runs on the backend that TANDEM_TEST_BACKEND names; by default, on the reference
// runtime and on CUDA's native code with the fake driver. Each file has its own process, because libraries
// keep values from the global scope.
export default mergeConfig(
  tandemVitest(import.meta.url, {
    include: [],
    reporters: ['verbose'],
    projects: [
      { extends: true, test: { name: 'libraries', include } },
      ...(process.env.TANDEM_TEST_BACKEND === undefined ? [{ extends: true as const, test: onCuda }] : []),
    ],
  }),
  // Compiles the functions that say 'use gpu'.
  { plugins: [typegpu({ include: /typegpu\.library\.ts$/ })] },
)
