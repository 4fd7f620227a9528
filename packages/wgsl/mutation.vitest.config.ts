import { defineConfig } from 'vitest/config'

/** The suite of mutation testing: a few seconds in one process, without C++ compilers and Dawn. `stryker.config.mjs` has the rest. */
export default defineConfig({
  test: {
    include: [
      ...['src/analysis/*.test.ts', 'src/validity/*.test.ts', 'src/testing/random-facts.test.ts'],
      ...['async-copies', 'emit-cuda', 'golden', 'swizzles', 'uniform-copies', 'unrolling'].map(
        (name) => `src/cuda/${name}.test.ts`,
      ),
    ],
    setupFiles: ['src/testing/verify-lowered.test.setup.ts'],
    // What compiles C++ or asks Dawn takes longer than all the rest, and the corpus as a whole too.
    testNamePattern: /^(?!.*(g\+\+|nvcc|CUDA toolkit|webgpu|random control flow|the emitter records))/,
    // `TANDEM_LONG=1 npx vitest run --config mutation.vitest.config.ts --coverage src/testing/random-facts.test.ts`: what random kernels reach.
    coverage: {
      provider: 'v8',
      include: ['src/analysis/*.ts', 'src/validity/*.ts', 'src/cuda/*.ts'],
      exclude: ['**/*.test.ts'],
      reporter: ['text', 'json'],
      reportsDirectory: '.cache/coverage',
    },
    isolate: false,
    fileParallelism: false,
  },
})
