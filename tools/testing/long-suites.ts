/** A suite of `npm run test:long`. */
export interface Suite {
  readonly name: string
  /** The package, and the file in its `src`. */
  readonly file: readonly [packageFolder: string, path: string]
  /** A regular expression: the tests to run, by their full names. */
  readonly tests: string
  /**
   * The number of parts into which the tests divide their cases (`testCases`); a suite with one part runs
   * alone, after the others.
   */
  readonly parts: number
}

/** Every test file with a long form, in one suite or several. */
export const longSuites: readonly Suite[] = [
  suite('a huge source', 'wgsl', 'frontend/scaling.test.ts', 'a huge source ends in a result', 11),
  suite('mutants', 'wgsl', 'testing/mutants.test.ts', '.', 32),
  suite('modules of the grammar', 'wgsl', 'frontend/fuzz.test.ts', 'modules drawn from the grammar$', 32),
  suite('mutations of the corpus', 'wgsl', 'frontend/fuzz.test.ts', 'mutations of the corpus', 4),
  suite('two runs of a source', 'wgsl', 'frontend/fuzz.test.ts', 'in two runs', 4),
  suite('validity of modules', 'wgsl', 'frontend/fuzz.test.ts', 'validity.*of modules', 8),
  suite('random control flow', 'wgsl', 'validity/validity.test.ts', 'random control flow', 16),
  suite('random kernels', 'wgsl', 'cuda/random-kernels.test.ts', 'random kernels give the same', 128),
  suite('lanes that go different ways', 'wgsl', 'reference/divergent-subgroups.test.ts', '.', 4),
  suite('facts of random kernels', 'wgsl', 'testing/random-facts.test.ts', '.', 16),
  suite('kernels of the corpus on the CPU', 'wgsl', 'cuda/execution.test.ts', '.', 1),
  suite("random kernels in nvcc's PTX", 'wgsl', 'cuda/random-ptx.test.ts', '.', 16),
  suite("random loops in nvcc's PTX", 'wgsl', 'cuda/random-exits.test.ts', '.', 10),
  suite('the corpus in nvcc', 'wgsl', 'cuda/golden.test.ts', '.', 1),
  suite('simulations of ranks', 'core', 'testing/simulated-ranks.test.ts', '.', 1),
  suite('edges of plans of ranks', 'core', 'ranks/rank-parts.test.ts', '.', 1),
  suite('wrong calls', 'core', 'wrong-calls.test.ts', '.', 1),
  suite('wrong calls of algorithms', 'algorithms', 'wrong-calls.test.ts', '.', 1),
  suite('random runs of jacobi', 'algorithms', 'jacobi/jacobi.test.ts', 'for any', 1),
  suite('random runs of histogram', 'algorithms', 'histogram/histogram.test.ts', 'for any', 1),
  suite('random runs of sort', 'algorithms', 'sort/sort.test.ts', 'for any', 1),
  suite('random runs of transpose', 'algorithms', 'transpose/transpose.test.ts', 'for any', 1),
  suite('random runs of matmul', 'algorithms', 'matmul/matmul.test.ts', 'for any', 1),
  suite('random runs of scan', 'algorithms', 'scan/scan.test.ts', 'for any', 1),
  suite('random runs of reduce', 'algorithms', 'reduction/reduce.test.ts', 'for any', 1),
  suite('recording for 1,024 ranks', 'algorithms', 'ranks-recording.test.ts', '1,024', 1),
  suite('products on a CPU adapter', 'algorithms', 'matmul/matmul-transposed.test.ts', '.', 1),
  suite('products from f16 parts', 'algorithms', 'matmul/tensor/split.test.ts', '.', 1),
  suite('exchanges of messages', 'backend-cuda', 'lower-messages.test.ts', '.', 1),
  suite('failures of the driver', 'backend-cuda', 'failure-table.test.ts', '.', 1),
  suite('the addon under sanitizers', 'backend-cuda', 'sanitizers.test.ts', '.', 1),
  suite('kernels that never end', 'backend-cuda', 'time-limit.test.ts', '.', 1),
  suite('canaries around memory', 'backend-cuda', 'clamp-canaries.test.ts', '.', 1),
  suite('programs over ranks', 'backend-mpi', 'mpi.test.ts', '.', 1),
  suite('failures of ranks', 'backend-mpi', 'failures.test.ts', '.', 1),
  suite('a link that is cut', 'backend-mpi', 'two-machines.test.ts', '.', 1),
  suite('random calls of the WebGPU API', 'webgpu-api', 'random-calls.test.ts', '.', 1),
  suite('groups and their model', 'cli', 'group-model.test.ts', '.', 1),
  suite('the corpus on every backend', 'cli', 'kernel-corpus.test.ts', '.', 1),
  suite('wrong lines of the command', 'cli', 'wrong-calls.test.ts', '.', 1),
  suite('commands in adverse conditions', 'cli', 'adverse-conditions.test.ts', '.', 1),
]

function suite(name: string, packageFolder: string, path: string, tests: string, parts: number): Suite {
  return { name, file: [packageFolder, path], tests, parts }
}
