import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { fakeLibraries } from './testing/fake-driver.ts'

const packageFolder = fileURLToPath(new URL('..', import.meta.url))

/** The output of a script that runs with native/test/no_threads.c. */
function printedWithoutThreads(script: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-no-threads-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const preloaded = join(folder, 'no-threads.so')
  const source = `${packageFolder}native/test/no_threads.c`
  const built = spawnSync('cc', ['-shared', '-fPIC', source, '-o', preloaded, '-ldl'], { encoding: 'utf8' })
  expect(built.status, built.stderr).toBe(0)
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--no-warnings', '-e', script],
    { cwd: packageFolder, encoding: 'utf8', env: { ...process.env, LD_PRELOAD: preloaded } },
  )
  return stdout || JSON.stringify(stderr)
}

it('rejects with a typed error if the operating system cannot start a thread, and works once it can', () => {
  const script = `
    import { openGroup } from '@tandem-gpu/core'
    import { cudaBackend } from './src/cuda.ts'
    import { translateTestKernel } from './src/testing/test-kernels.ts'
    const libraries = ${JSON.stringify(fakeLibraries())}
    const backends = [cudaBackend({ libraries, kernelCache: false }, translateTestKernel)]
    const told = []
    const without = async (call) => {
      process.env.NO_THREADS = '1'
      told.push(await call().then(() => 'works', (error) => error.code + ': ' + error.message))
      delete process.env.NO_THREADS
    }
    await without(() => openGroup({ backends }))
    await backends[0].adapters()
    await without(() => openGroup({ backends }))
    // Threads that the driver starts through the system's C++ library, whose exception reaches our code.
    process.env.NO_THREADS_OF = 'libstdc++.so:0'
    told.push(await openGroup({ backends }).catch((error) => error.code + ': ' + error.message))
    delete process.env.NO_THREADS_OF
    const group = await openGroup({ backends })
    const compile = () => group.compile({ label: 'add', wgsl: '@compute @workgroup_size(1) fn main() {}' })
    await without(compile)
    const kernel = await compile()
    const buffer = await group.devices[0].allocate('u8', 8_000_000)
    await without(() => group.queue.write(buffer, new Uint8Array(8_000_000).fill(3)))
    told.push((await group.queue.read(buffer)).every((byte) => byte === 3))
    kernel.destroy()
    buffer.destroy()
    told.push(await group.destroy())
    console.log(JSON.stringify(told))`
  const reason = 'The operating system cannot start a thread: Resource temporarily unavailable.'
  expect(JSON.parse(printedWithoutThreads(script))).toEqual([
    `out-of-memory: Looking for CUDA devices failed: ${reason}`,
    `out-of-memory: Opening 2 CUDA devices failed: ${reason}`,
    `out-of-memory: Opening 2 CUDA devices failed: ${reason}`,
    expect.stringContaining(reason),
    'works',
    true,
    { leaks: [] },
  ])
})

it('closes GPUs that exchange messages, one of them after another rank has gone, if the operating system cannot start a thread for it', () => {
  const script = `
    import { openConnectedRuntimes } from './src/testing/connected-runtimes.ts'
    process.env.FAKE_CUDA_DEVICES = '2'
    const told = []
    for (const broken of [false, true]) {
      const connected = await openConnectedRuntimes([[0], [1]])
      const runtimes = connected.opened.map(({ value }) => value)
      process.env.NO_THREADS_OF = 'backend-cuda.node:0'
      if (broken) connected.break()
      await new Promise((resolve) => setTimeout(resolve, 100))
      for (const runtime of runtimes) told.push(await runtime.dispose())
      delete process.env.NO_THREADS_OF
    }
    console.log(JSON.stringify(told))`
  expect(JSON.parse(printedWithoutThreads(script))).toEqual([[], [], [], []])
})
