// The addon under AddressSanitizer with UndefinedBehaviorSanitizer, and under ThreadSanitizer, on the fake
// driver.
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { fakeLibraries } from './testing/fake-driver.ts'
import {
  buildSanitized,
  missingFor,
  runSanitized,
  runSanitizedTests,
  sanitizedAddon,
} from './testing/sanitized.ts'

const canary = fileURLToPath(new URL('../native/test/sanitizer_canary.cpp', import.meta.url))
const threads = fileURLToPath(new URL('./testing/threads.ts', import.meta.url))
/**
 * The tests on the fake driver, and those tests of the conformance suite that transfer from and to arrays
 * that change. Random programs with every kind of graph run only in the long form.
 */
const files = [
  'cuda-runtime',
  'failures',
  'faults',
  'fake-conformance',
  'messages',
  'device-memory',
  'stopped-kernels',
  'cuda-command-queue',
  'host-blocks',
  'launcher',
  'shared-blocks',
]
const conformance = 'backend cuda on the fake driver'
const shortened = process.env.TANDEM_LONG === '1' ? '' : '(?!.*random programs.*(one-graph|graph-per-gpu))'
const tests = `^${shortened}(?!.*${conformance})|${conformance} × 3\\W+memory`

describe.each([
  [
    'address',
    [
      ['overflow', /AddressSanitizer: heap-buffer-overflow/],
      ['shift', /runtime error: shift exponent 40 is too large/],
    ],
  ],
  ['thread', [['race', /ThreadSanitizer: data race/]]],
] as const)('%s sanitizer', (sanitizer, defects) => {
  const missing = missingFor(sanitizer)
  const reason = missing === undefined ? '' : ` (skipped: ${missing})`

  it.skipIf(missing !== undefined).each(defects.map(([defect, report]) => ({ defect, report })))(
    `notices the $defect of an addon made for it${reason}`,
    ({ defect, report }) => {
      const addon = buildSanitized(sanitizer, 'canary', [canary])
      const script = `require(${JSON.stringify(addon)}).${defect}()`
      const { status, output } = runSanitized(sanitizer, addon, ['-e', script])
      expect(output).toMatch(report)
      expect(status).not.toBe(0)
    },
  )

  it.skipIf(missing !== undefined)(`finds nothing while the fake driver's tests run${reason}`, () => {
    fakeLibraries()
    const { status, output } = runSanitizedTests(sanitizer, sanitizedAddon(sanitizer), [
      `--testNamePattern=${tests}`,
      ...files.map((name) => `src/${name}.test.ts`),
    ])
    expect(output).not.toMatch(/Sanitizer|runtime error/)
    expect(output).toMatch(new RegExp(`Test Files\\D*${files.length} passed`))
    expect(status).toBe(0)
  })

  it.skipIf(missing !== undefined)(`finds nothing while threads that compute are terminated${reason}`, () => {
    process.env.FAKE_CUDA_DEVICES = '2'
    const libraries = JSON.stringify(fakeLibraries())
    const { status, output } = runSanitized(sanitizer, sanitizedAddon(sanitizer), [
      '--no-warnings',
      threads,
      libraries,
    ])
    expect([status, output]).toEqual([0, '{"read":[21,21],"leaks":[]}\n'])
  })
})
