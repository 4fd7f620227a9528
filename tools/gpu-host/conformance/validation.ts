import { readdirSync, readFileSync } from 'node:fs'
import { type DeviceGroup, isGpuError } from '@tandem-gpu/core'
import { parseValidityCases, validitySource } from '@tandem-gpu/wgsl/testing'
import type { Failure } from './batch.ts'

const testdata = new URL('../../../packages/wgsl/testdata/', import.meta.url)

/** Compiles the kernels that are valid or not by the rules of uniformity and aliases, and the sources of the corpus that must be rejected. */
export async function judgeValidation(
  group: DeviceGroup,
): Promise<{ cases: number; failures: (Failure & { batch: string })[] }> {
  const read = (path: string) => readFileSync(new URL(path, testdata), 'utf8')
  const features = group.devices[0]!.features
  const table = parseValidityCases(read('validity.txt')).map(({ text, isValid }) => ({
    ...{ batch: 'validity', text, source: validitySource(text), isValid },
  }))
  const rejected = readdirSync(new URL('rejected/', testdata)).map((file) => ({
    ...{ batch: 'rejected', text: file, source: read(`rejected/${file}`), isValid: false },
  }))
  const failures: (Failure & { batch: string })[] = []
  let cases = 0
  for (const { batch, text, source, isValid } of [...table, ...rejected]) {
    if (/^enable [^;]*subgroups/m.test(source) && !features.has('subgroups')) continue
    if (/^enable [^;]*f16/m.test(source) && !features.has('shader-f16')) continue
    cases++
    let got = 'accepted'
    try {
      const kernel = await group.compile({ label: text, wgsl: source, entryPoint: 'main' })
      kernel.destroy()
    } catch (error) {
      if (!isGpuError(error)) throw error
      got = `${error.code}: ${error.message.split('\n')[0]}`
    }
    const isRight = isValid ? got === 'accepted' : got.startsWith('compilation')
    if (!isRight)
      failures.push({ batch, reproducer: text, expected: isValid ? 'accepted' : 'compilation', got })
  }
  return { cases, failures }
}
