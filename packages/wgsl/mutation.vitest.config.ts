import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { mutantSwitches } from './src/testing/mutant-switches.test.setup.ts'

const home = fileURLToPath(new URL('.', import.meta.url))

/**
 * Mutation testing: one file, which loads tests that need neither C++ compilers nor Dawn, and judges the
 * mutants of TANDEM_MUTATED with them.
 */
export default defineConfig({
  root: home,
  plugins: [mutantSwitches(home, process.env.TANDEM_MUTATED)],
  test: {
    include: ['src/testing/judge-mutants.test.setup.ts', 'src/testing/random-facts.test.ts'],
    setupFiles: ['src/testing/verify-lowered.test.setup.ts'],
    testNamePattern: /^(?!.*(g\+\+|nvcc|CUDA toolkit|webgpu|random control flow|the emitter records))/,
    testTimeout: 0,
    // `TANDEM_LONG=1 npx vitest run --config mutation.vitest.config.ts --coverage
    // src/testing/random-facts.test.ts`: what random kernels reach.
    coverage: {
      provider: 'v8',
      include: ['src/analysis/*.ts', 'src/validity/*.ts', 'src/cuda/*.ts'],
      exclude: ['**/*.test.ts'],
      reporter: ['text', 'json'],
      reportsDirectory: '.cache/coverage',
    },
    // The cache would give a file as another run of Vitest changed it.
    fsModuleCache: false,
    isolate: false,
    fileParallelism: false,
  },
})
