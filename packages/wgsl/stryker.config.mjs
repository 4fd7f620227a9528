/** Mutation testing of what may leave out checks: `src/testing/mutants.test.ts` runs it, file by file. */
export default {
  packageManager: 'npm',
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'mutation.vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // TypeScript 7 is not the compiler that Stryker would read it with; types do not matter to mutants that run.
  tsconfigFile: 'none',
  // Mutants in tables that are made when a file is loaded would run every test.
  ignoreStatic: true,
  mutator: {
    excludedMutations: ['StringLiteral', 'ObjectLiteral', 'ArrayDeclaration', 'Regex', 'BooleanLiteral'],
  },
  mutate: [],
  // Vite finds the file of the package; a copy would look for its base beside it.
  ignorePatterns: ['dist', '.cache', 'bin', 'tsconfig.json'],
  concurrency: 1,
  timeoutMS: 20_000,
  reporters: ['json', 'clear-text'],
  clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
  jsonReporter: { fileName: process.env.TANDEM_MUTATION_REPORT ?? '.cache/mutation.json' },
  tempDirName: '.cache/stryker',
  disableTypeChecks: false,
  allowConsoleColors: false,
}
