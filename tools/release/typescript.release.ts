import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { installed, mustRun, newProject, programs, root, tools, tryRun } from './testing/consumer.ts'

const { npmrc } = inject('release')
const own = join(root, 'tools/release/node_modules')
const compilers = [
  ...['5.7', '5.8', '5.9', '6.0'].map(
    (version) => [version, join(own, `typescript-${version}/bin/tsc`)] as const,
  ),
  ['7.0', join(root, 'node_modules/typescript/bin/tsc')] as const,
]
const libs = [['es2022'], ['es2022', 'dom'], ['esnext'], ['esnext', 'dom']]
const types = [[], ['node'], ['@webgpu/types'], ['node', '@webgpu/types']]

/** Imports every entry point, and passes options as undefined. */
const everything = `
export * as core from '@tandem-gpu/core'
export * as coreBackend from '@tandem-gpu/core/backend'
export * as coreNative from '@tandem-gpu/core/native'
export * as coreTesting from '@tandem-gpu/core/testing'
export * as cuda from '@tandem-gpu/backend-cuda'
export * as webgpu from '@tandem-gpu/backend-webgpu'
export * as mpi from '@tandem-gpu/backend-mpi'
export * as webgpuApi from '@tandem-gpu/webgpu-api'
export * as algorithms from '@tandem-gpu/algorithms'
export * as wgsl from '@tandem-gpu/wgsl'
export * as reference from '@tandem-gpu/wgsl/reference'
export * as wgslTesting from '@tandem-gpu/wgsl/testing'
export * as cli from '@tandem-gpu/cli'
export * as swiftshader from '@tandem-gpu/swiftshader-linux-x64'

import type { CudaOptions } from '@tandem-gpu/backend-cuda'
import type { MpiOptions } from '@tandem-gpu/backend-mpi'
import type { WebGpuOptions } from '@tandem-gpu/backend-webgpu'
import type { CompileOptions, OpenGroupOptions, RecordOptions, RunOptions } from '@tandem-gpu/core'
import type { TransposeOptions } from '@tandem-gpu/algorithms'
import type { BufferOfOptions, CreateGpuOptions, GpuOptions } from '@tandem-gpu/webgpu-api'

export const group: OpenGroupOptions = { backends: [], devices: undefined, virtual: undefined, by: undefined, adapters: undefined, portableLimits: undefined, label: undefined }
export const compile: CompileOptions = { wgsl: '', label: undefined, entryPoint: undefined, constants: undefined, bounds: undefined }
export const record: RecordOptions = { schedule: undefined, label: undefined }
export const run: RunOptions = { signal: undefined, profile: undefined }
export const cudaOptions: CudaOptions = { kernelCache: undefined, fmad: undefined, peerAccess: undefined, lowering: undefined, libraries: undefined, shippedKernels: undefined }
export const webgpuOptions: WebGpuOptions = { device: undefined, gpu: undefined, software: undefined, peerAccess: undefined, toggles: undefined }
export const mpiOptions: MpiOptions = { virtual: undefined, libraries: undefined }
export const createGpuOptions: CreateGpuOptions = { backends: [], timeoutSeconds: undefined }
export const gpuOptions: GpuOptions = { timeoutSeconds: undefined }
export const bufferOfOptions: BufferOfOptions = { label: undefined, usage: undefined }
export const transposeOptions: Partial<TransposeOptions<'i32'>> = { tuning: undefined, signal: undefined }
`

let project: string

beforeAll(async () => {
  project = newProject('typescript', npmrc, { keep: true })
  await mustRun('npm', ['install', '--no-audit', '--no-fund', ...installed, '@types/node@24.19.2'], {
    cwd: project,
  })
  writeFileSync(join(project, 'everything.ts'), everything)
  for (const { file, source } of programs()) writeFileSync(join(project, file), source)
})

async function errorsOfOurs(
  tsc: string,
  lib: readonly string[],
  typeRoots: readonly string[],
  files: readonly string[],
) {
  const options = {
    target: 'es2022',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    lib,
    types: typeRoots,
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }))
  const { status, output } = await tryRun(tools.node24, [tsc, '-p', project, '--pretty', 'false'], {
    cwd: project,
  })
  const errors = output.split('\n').filter((line) => /error TS/.test(line))
  if (status !== 0 && errors.length === 0) throw new Error(output)
  // Without DOM types, @webgpu/types itself has errors; with those of TypeScript 6 and later, it has
  // duplicate declarations.
  return errors.filter(
    (line) =>
      !/node_modules\/(@webgpu\/types|@types\/node|typescript)\//.test(line) &&
      !/\/lib\.dom\.d\.ts/.test(line),
  )
}

describe.each(compilers)('TypeScript %s', (_, tsc) => {
  it.each(libs.map((lib) => [lib.join(' and '), lib] as const))(
    'finds no error in our files, with lib %s, and with and without the types of Node and WebGPU',
    async (__, lib) => {
      for (const chosen of types)
        expect(await errorsOfOurs(tsc, lib, chosen, ['everything.ts']), chosen.join()).toEqual([])
    },
  )

  it('compiles the programs that the other tests run', async () => {
    const files = programs().map(({ file }) => file)
    expect(await errorsOfOurs(tsc, ['es2022'], ['node'], files)).toEqual([])
  })
})
