import { GpuError, openGroup } from '@tandem-gpu/core'
import { expect, it } from 'vitest'
import { addonAbsence } from './native-addon.ts'

const notFound = new Error('No native build was found for platform=x arch=y')

it('an addon that does not load is an absence if the package has none for the machine', () => {
  expect(addonAbsence(notFound, 'darwin-arm64')).toEqual({
    code: 'unsupported',
    reason: expect.stringMatching(
      /^The addon of @tandem-gpu\/backend-cuda cannot be loaded on darwin-arm64: /,
    ),
    remedy: expect.stringMatching(/glibc 2\.34/),
  })
})

it('an addon that does not load is an error if the package has one: CUDA is not skipped', async () => {
  expect(() => addonAbsence(notFound, 'linux-arm64')).toThrow(GpuError)
  expect(() => addonAbsence(notFound, 'linux-x64')).toThrow(
    /No native build was found .* `npm run build` builds it .* remove cuda\(\) from the list of backends\.$/,
  )
  const broken = {
    name: 'cuda',
    adapters: async () => ({ adapters: [], absence: addonAbsence(notFound, 'linux-x64') }),
    open: () => Promise.reject(new Error('not opened')),
  }
  const other = { ...broken, name: 'other', adapters: () => Promise.reject(new Error('was asked')) }
  await expect(openGroup({ backends: [broken, other] })).rejects.toMatchObject({ code: 'unsupported' })
})
