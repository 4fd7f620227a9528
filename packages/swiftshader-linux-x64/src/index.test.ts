import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { icdPath, libraryPath, loaderPath, version } from './index.ts'

test('the driver and the loader are Linux x64 libraries', () => {
  for (const path of [libraryPath, loaderPath]) {
    const header = readFileSync(path).subarray(0, 20)
    expect(header.subarray(1, 4).toString()).toBe('ELF')
    expect(header.readUInt16LE(18)).toBe(0x3e)
    expect(statSync(path).size).toBeGreaterThan(500_000)
  }
})

test('the manifest names the driver beside it', () => {
  const manifest = JSON.parse(readFileSync(icdPath, 'utf8'))
  expect(resolve(dirname(icdPath), manifest.ICD.library_path)).toBe(libraryPath)
})

test('the licence and the release travel with the libraries', () => {
  expect(readFileSync(resolve(dirname(icdPath), 'LICENSE'), 'utf8')).toContain('Apache License')
  expect(version()).toMatch(/^\d+\.\d+\.\d+$/)
})
