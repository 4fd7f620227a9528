import type { Backend } from '../backend/backend.ts'
import { GpuError } from '../errors.ts'

/** Options of `describeBackend`. */
export interface ConformanceOptions {
  /** Devices to open, virtual ones if there are fewer adapters. Default 2. */
  readonly devices?: number | undefined
}

/**
 * The suite is written for vitest, an optional peer; the rest of `@tandem-gpu/core/testing` does not need a
 * test runner.
 */
const suites = await Promise.all([
  import('./conformance/describe-conformance.ts'),
  import('./kernels/describe-kernels.ts'),
  import('./links/describe-link.ts'),
]).catch((error: unknown) => {
  // Node reports ERR_MODULE_NOT_FOUND; the loader of Yarn's Plug'n'Play reports MODULE_NOT_FOUND.
  if (/^(ERR_)?MODULE_NOT_FOUND$/.test((error as NodeJS.ErrnoException).code ?? '')) return undefined
  throw error
})

function installed() {
  if (suites !== undefined) return suites
  throw new GpuError('unsupported', 'The conformance suite needs vitest: run npm install --save-dev vitest.')
}

/**
 * Declares the conformance suite (vitest) for one backend; every backend passes all of it. Tests that need a
 * capability which the backend lacks are skipped, with the reason; so are all tests if it has no adapters.
 * Throws `unsupported` if vitest is not installed.
 */
export function describeBackend(
  name: string,
  backend: () => Backend,
  options: ConformanceOptions = {},
): void {
  describeRanks(name, () => [backend()], options)
}

/**
 * The same for the backends of several ranks that share this process: each test runs on all of them at once.
 */
export function describeRanks(
  name: string,
  backends: () => readonly Backend[],
  options: ConformanceOptions = {},
): void {
  installed()[0].describeConformance(name, backends, options.devices ?? 2)
}

/**
 * Declares tests (vitest) of what kernels compute on a backend's first device, in kernels of many cases:
 * every operation of f32 to the precision that WGSL asks for, access outside of buffers and arrays, and
 * memory that is zero before the first write. Throws `unsupported` if vitest is not installed.
 */
export function describeKernels(name: string, backend: () => Backend): void {
  installed()[1].describeKernelBatches(name, backend)
}

/**
 * Declares tests (vitest) of a link of the backend, between three processes that are simulated in this one:
 * each has one of the backend's first three adapters. A backend around this one has to test what needs several
 * processes, such as memory that they map. Throws `unsupported` if vitest is not installed.
 */
export function describeLink(name: string, backend: () => Backend, link: string): void {
  installed()[2].describeLinkOf(name, backend, link)
}
