// The table "What you see when something is missing" of README.md, made by hiding each library from the
// loader.
import { readFileSync } from 'node:fs'
import { openGroup } from '@tandem-gpu/core'
import { beforeEach, expect, it } from 'vitest'
import { findAdapters } from './adapters.ts'
import { cudaBackend } from './cuda.ts'
import { defaultLibraries, type Libraries } from './libraries.ts'
import { type NativeAddon, nativeAddon } from './native-addon.ts'
import { loadNccl } from './nccl.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'
import { testKernelSource, translateTestKernel } from './testing/test-kernels.ts'

const nowhere = '/nowhere'
const hidden = (names: readonly string[]) =>
  names.map((name) => `${nowhere}${name.startsWith('/') ? '' : '/'}${name}`)
/** As if the library names had not been found. */
const shown = (text: string) =>
  text
    .replaceAll(`${nowhere}/`, '/')
    .replaceAll(nowhere, "the loader's path")
    // The fake driver's path.
    .replace(/ \(\/[^)]*libfake_cuda\.so\)/, ' (libcuda.so.1)')

const present = fakeLibraries()

beforeEach(() => configureFake())

async function absence(libraries: Libraries): Promise<string> {
  const addon = nativeAddon()
  if (addon instanceof Error) throw addon
  const { absence } = await findAdapters(addon, libraries)
  return shown(`\`${absence?.code}\`: ${[absence?.reason, absence?.remedy].filter(Boolean).join(' ')}`)
}

/** Separate lists make the addon load and check the driver again. */
const again = (name: string): Libraries => ({ ...present, cuda: [`/none/${name}`, ...present.cuda] })

async function rows(): Promise<string[][]> {
  const noDriver = await absence({ ...present, cuda: hidden(defaultLibraries.cuda) })
  configureFake({ FAKE_CUDA_VERSION: 11_080 })
  const oldDriver = await absence(again('old'))
  configureFake({ FAKE_CUDA_DEVICES: 0 })
  const noDevice = await absence(again('empty'))
  configureFake()
  const backend = cudaBackend(
    {
      libraries: { ...present, nvrtc: hidden(defaultLibraries.nvrtc), nvml: hidden(defaultLibraries.nvml) },
      kernelCache: false,
      shippedKernels: () => undefined,
    },
    translateTestKernel,
  )
  const { adapters, notes } = await backend.adapters()
  const runtime = await backend.open(adapters)
  const noNvrtc = await runtime.compile(testKernelSource('add')).then(
    () => '',
    (error) => shown(`\`${error.code}\`: ${error.message.replace("'add'", "'x'")}`),
  )
  await runtime.dispose()
  const addon = nativeAddon() as NativeAddon
  const noNccl = await loadNccl(addon, hidden(defaultLibraries.nccl)).then(
    () => '',
    (error) => shown(`\`${error.code}\`: ${error.message}`),
  )
  return [
    ['libcuda (the driver)', 'every call', noDriver],
    ['a driver that is new enough', 'every call', oldDriver],
    ['a GPU', 'every call', noDevice],
    ['NVRTC', '`compile` of a kernel that is not shipped compiled; shipped kernels run', noNvrtc],
    ['NCCL', 'transport `nccl` of [mpi](../backend-mpi/README.md)', noNccl],
    ['NVML', 'a note of `adapters()`, and of `tandem doctor`', shown(notes?.[0] ?? '')],
  ]
}

it('is what README says, word for word', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const section = readme.split('## What you see when something is missing\n')[1]?.split('\n## ')[0]
  const table = [
    '| missing | where | what you see |',
    '|---|---|---|',
    ...(await rows()).map((cells) => `| ${cells.join(' | ')} |`),
  ]
  expect(section?.split('\n').filter((line) => line.startsWith('|'))).toEqual(table)
})

it('is what openGroup rejects with', async () => {
  const backend = cudaBackend(
    { libraries: { ...present, cuda: hidden(defaultLibraries.cuda) } },
    translateTestKernel,
  )
  const error = await openGroup({ backends: [backend] }).catch((reason: unknown) => reason)
  const [code, ...sentence] = (await absence({ ...present, cuda: hidden(defaultLibraries.cuda) })).split(': ')
  expect(code).toBe('`no-driver`')
  expect(error).toMatchObject({ code: 'no-device' })
  expect(shown(String(error))).toContain(`No usable device was found. cuda: ${sentence.join(': ')}`)
})
