import { readdirSync, readFileSync } from 'node:fs'
import { cuda } from '@tandem-gpu/backend-cuda'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import type { Backend } from '@tandem-gpu/core'
import type { Runtime } from '@tandem-gpu/core/backend'
import { type KernelTestResult, referenceBackend, runKernelTest } from '@tandem-gpu/core/testing'
import { compareBuffers, generatedKernels, parseKernelTest } from '@tandem-gpu/wgsl/testing'
import { describe, expect, it } from 'vitest'

/*
 * The kernel corpus of @tandem-gpu/wgsl, run through the backend contract on every backend that has a device
 * on this machine: all of them and the CPU reference must agree, within the tolerance in each kernel's
 * header.
 */

const accepted = new URL('../../wgsl/testdata/accepted/', import.meta.url)
const kernels = [
  ...readdirSync(accepted).map((name) => ({
    name,
    source: readFileSync(new URL(name, accepted), 'utf8'),
    isGenerated: false,
  })),
  ...generatedKernels().map((kernel) => ({ ...kernel, isGenerated: true })),
]

const features = {
  f16: 'shader-f16',
  subgroups: 'subgroups',
  chromium_experimental_subgroup_matrix: 'chromium-experimental-subgroup-matrix',
} as const

/** A backend's first device; undefined if there is none. */
async function openFirst(backend: Backend<Runtime>): Promise<{ name: string; runtime: Runtime } | undefined> {
  const [adapter] = (await backend.adapters()).adapters
  return adapter && { name: `${backend.name} (${adapter.name})`, runtime: await backend.open([adapter]) }
}

function canRun(runtime: Runtime, source: string): boolean {
  return (Object.keys(features) as (keyof typeof features)[]).every(
    (feature) =>
      !new RegExp(`^enable [^;]*\\b${feature}\\b`, 'm').test(source) ||
      runtime.devices[0]!.features.has(features[feature]),
  )
}

describe('the kernel corpus', () => {
  it('gives the same results on every backend and on the CPU reference', { timeout: 600_000 }, async () => {
    const found = await Promise.all([referenceBackend(), webgpu(), cuda()].map(openFirst))
    const places = found.filter((place) => place !== undefined)
    const failures: string[] = []
    const ran = new Map(places.map(({ name }) => [name, 0]))
    let compared = 0
    // Generated kernels have the same bindings and differ only in their computations, which the tests of wgsl
    // compare on the CPU, on the reference and on Dawn.
    const all = places.some(({ runtime }) => !runtime.devices[0]!.software) || process.env.TANDEM_LONG === '1'
    const run = kernels.filter(({ isGenerated }, i) => all || !isGenerated || i % 4 === 0)
    for (const { name, source } of run) {
      const { tolerance } = parseKernelTest(source)
      const results: { place: string; buffers: Map<string, KernelTestResult> }[] = []
      for (const { name: place, runtime } of places) {
        if (!canRun(runtime, source)) continue
        try {
          results.push({ place, buffers: await runKernelTest(runtime, name, source) })
          ran.set(place, ran.get(place)! + 1)
        } catch (error) {
          failures.push(`${name} on ${place}: ${(error as Error).message.slice(0, 300)}`)
        }
      }
      const [first, ...others] = results
      if (others.length > 0) compared++
      for (const { place, buffers } of others)
        for (const [buffer, { buffer: description, bytes }] of buffers) {
          const difference = compareBuffers(description, bytes, first!.buffers.get(buffer)!.bytes, tolerance)
          if (difference !== undefined)
            failures.push(`${name}: on ${place} against ${first!.place}: ${difference}`)
        }
    }
    for (const { runtime } of places) await runtime.dispose()
    console.log(`${run.length} of ${kernels.length} kernels, ${compared} compared:`, Object.fromEntries(ran))
    expect(failures).toEqual([])
    expect(run.length).toBeGreaterThanOrEqual(300)
    expect(places.length).toBeGreaterThanOrEqual(2)
  })
})
