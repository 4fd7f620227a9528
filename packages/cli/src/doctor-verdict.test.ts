import { expect, it } from 'vitest'
import { verdictOn } from './commands/doctor.ts'

const software = { name: 'webgpu', works: true, adapters: [{ name: 'SwiftShader', software: true }] }
const h200 = { name: 'NVIDIA H200', software: false }
const noDriver = {
  name: 'cuda',
  works: false,
  adapters: [],
  code: 'no-driver',
  reason: 'The driver does not load.',
}

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
        reason: '@tandem-gpu/backend-cuda was built without its addon: this machine has no C++ compiler.',
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
        reason:
          "Kernel 'square' is not shipped in compiled form, and NVRTC, CUDA's run-time compiler, cannot be loaded.",
      },
      software,
    ],
    'Ready: a software GPU, which opens as any number of virtual devices. No CUDA: NVRTC, its compiler, is missing.',
  ],
  [[{ ...noDriver, works: true, adapters: [h200, h200] }, software], 'Ready: 2 × NVIDIA H200 (cuda).'],
  [
    [
      {
        ...noDriver,
        reason: 'The package @tandem-gpu/backend-cuda is not installed next to the tandem command.',
      },
      { ...software, works: false, code: 'validation' },
    ],
    'Not ready: no backend works. No CUDA: its package is not installed. No WebGPU: see above.',
  ],
])('doctor ends with a verdict: %#', (diagnoses, verdict) => {
  expect(verdictOn(diagnoses)).toBe(verdict)
})
