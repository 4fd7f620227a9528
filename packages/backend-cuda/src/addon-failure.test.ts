import { GpuError, openGroup } from '@tandem-gpu/core'
import { describe, expect, it } from 'vitest'
import { addonAbsence } from './addon-failure.ts'

const notFound = new Error('No native build was found for platform=x arch=y\n    loaded from: /app')

describe('an addon that does not load', () => {
  it('is an absence on platforms that have none', () => {
    const { code, reason, remedy } = addonAbsence(notFound, 'darwin-arm64')
    expect(code).toBe('unsupported')
    expect(reason).toBe(
      'The CUDA addon does not load on darwin-arm64: No native build was found for platform=x arch=y.',
    )
    expect(remedy).toBe('It is built for Linux on x64 and arm64 with glibc 2.34 or newer.')
  })

  it.each([
    "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /app/addon.node)",
    'Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed by /app/addon.node)',
    'Error relocating /app/addon.node: __memcpy_chk: symbol not found',
  ])('is an absence where the C library is older or another one: %s', (message) => {
    expect(addonAbsence(new Error(message), 'linux-x64').remedy).toMatch(/glibc 2\.34/)
  })

  it('is an error where the package has one: CUDA is not skipped', async () => {
    expect(() => addonAbsence(notFound, 'linux-arm64')).toThrow(GpuError)
    expect(() => addonAbsence(notFound, 'linux-x64')).toThrow(
      /No native build was found .* `npm run build` builds it .* leave cuda\(\) out of the backends\.$/,
    )
    const broken = {
      name: 'cuda',
      adapters: async () => ({ adapters: [], absence: addonAbsence(notFound, 'linux-x64') }),
      open: () => Promise.reject(new Error('not opened')),
    }
    const other = { ...broken, name: 'other', adapters: () => Promise.reject(new Error('was asked')) }
    await expect(openGroup({ backends: [broken, other] })).rejects.toMatchObject({ code: 'unsupported' })
  })

  it('names the permissions that Deno asks for', () => {
    const refused = Object.assign(new Error('Requires ffi access to "/app/addon.node"'), {
      name: 'NotCapable',
    })
    expect(() => addonAbsence(refused, 'linux-x64')).toThrow(/Run Deno with --allow-ffi/)
  })
})
