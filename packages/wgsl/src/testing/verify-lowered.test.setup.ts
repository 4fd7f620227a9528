import { vi } from 'vitest'
import { verifyIr } from './verify-ir.ts'

/** In every test of this package, each module that `lower` returns is verified. */
vi.mock(import('../frontend/lower.ts'), async (importOriginal) => {
  const original = await importOriginal()
  return {
    ...original,
    lower: (...args: Parameters<typeof original.lower>) => {
      const module = original.lower(...args)
      verifyIr(module)
      return module
    },
  }
})
