import { expect, it } from 'vitest'
import { verdictOn } from './commands/doctor.ts'

const software = { name: 'webgpu', works: true, adapters: [{ name: 'SwiftShader', software: true }] }
const h200 = { name: 'NVIDIA H200', software: false }
const noDriver = { name: 'cuda', works: false, adapters: [], code: 'no-driver' }

it.each([
  [
    [noDriver, software],
    'Ready: a software GPU, which opens as any number of virtual devices. No CUDA: no driver.',
  ],
  [
    [
      {
        ...noDriver,
        code: 'unsupported',
        missing: 'addon' as const,
      },
      software,
    ],
    'Ready: a software GPU, which opens as any number of virtual devices. No CUDA: its addon was not built.',
  ],
  [
    [
      {
        ...noDriver,
        code: 'unsupported',
        missing: 'compiler' as const,
      },
      software,
    ],
    'Ready: a software GPU, which opens as any number of virtual devices. No CUDA: its compiler is missing.',
  ],
  [[{ ...noDriver, works: true, adapters: [h200, h200] }, software], 'Ready: 2 × NVIDIA H200 (cuda).'],
  [
    [
      {
        ...noDriver,
        missing: 'package' as const,
      },
      { ...software, works: false, code: 'validation' },
    ],
    'Not ready: no backend works. No CUDA: its package is not installed. No WebGPU: see above.',
  ],
  [[noDriver], 'Not ready. No CUDA: no driver.'],
])('doctor ends with a verdict: %#', (diagnoses, verdict) => {
  expect(verdictOn(diagnoses)).toBe(verdict)
})
