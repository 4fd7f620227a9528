import { vi } from 'vitest'
import { sharedWebGpu } from './shared-webgpu.ts'

/** Commands that tests run in this process share the software GPU; ranks of a job open their own. */
vi.mock(import('../backends.ts'), async (importOriginal) => {
  const original = await importOriginal()
  return {
    ...original,
    backendsNamed: (name, job, ...rest) =>
      original
        .backendsNamed(name, job, ...rest)
        .map((backend) => (job === undefined && backend.name === 'webgpu' ? sharedWebGpu(backend) : backend)),
  }
})
