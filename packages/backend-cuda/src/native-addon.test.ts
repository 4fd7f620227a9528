import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { nativeAddon } from './native-addon.ts'
import { configureFake, fakeLibraries, sharedHeaders } from './testing/fake-driver.ts'

const packageFolder = fileURLToPath(new URL('..', import.meta.url))
const prebuilt = `${packageFolder}prebuilds/linux-x64/@tandem-gpu+backend-cuda.node`
const cudaHeader = '/usr/local/cuda/include/cuda.h'
const ncclHeader = '/usr/include/nccl.h'

/**
 * Every prebuilt addon: linux-x64 from a build, and linux-arm64 from a release or from `node native/build.mjs
 * --arm64`.
 */
const addons = readdirSync(`${packageFolder}prebuilds`, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => ({
    platform: name,
    bytes: readFileSync(`${packageFolder}prebuilds/${name}/@tandem-gpu+backend-cuda.node`, 'latin1'),
  }))

/**
 * Runs a script that gets the addon as `addon`, the fake libraries as `libraries` and the collector as `gc`;
 * returns its output. A script that takes more than ten minutes is considered hung.
 */
function runScript(body: string): {
  stdout: string
  stderr: string
  status: number | null
  signal: string | null
} {
  const script = `const addon = require(${JSON.stringify(prebuilt)}); const libraries = ${JSON.stringify(fakeLibraries().cuda)};${body}`
  const { stdout, stderr, status, signal } = spawnSync(process.execPath, ['--expose-gc', '-e', script], {
    encoding: 'utf8',
    timeout: 600_000,
    killSignal: 'SIGKILL',
  })
  return { stdout, stderr, status, signal }
}

describe('the addon', () => {
  it('is built and loads', () => {
    expect(nativeAddon()).not.toBeInstanceOf(Error)
    expect(existsSync(prebuilt)).toBe(true)
  })

  it('starts the clock of a run after the graphs that it launches first', async () => {
    const addon = nativeAddon()
    if (addon instanceof Error) throw addon
    configureFake({ FAKE_CUDA_BUSY_MS: 50 })
    const group = await addon.openGroup(fakeLibraries().cuda, [0])
    await group.createGraph(1, 0, Float64Array.of(0))
    const begun = performance.now()
    const { seconds, launches } = await group.run({
      before: [1, 1, 1, 1],
      steps: [{ graphs: [1], count: 2 }],
      uniformTargets: [],
      collect: [],
      abortWord: new Int32Array(1),
    })
    const wall = (performance.now() - begun) / 1000
    configureFake()
    expect(launches).toBe(2)
    expect(seconds).toBeGreaterThan(0.09)
    expect(seconds).toBeLessThan(wall - 0.19)
    expect(await group.close()).toEqual([])
  })

  it.each(addons)('of $platform needs no glibc above 2.34, as README says', ({ bytes }) => {
    const minors = [...bytes.matchAll(/\bGLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor))
    expect(minors.length).toBeGreaterThan(0)
    expect(Math.max(...minors)).toBeLessThanOrEqual(34)
  })

  it.each(addons)('of $platform has its libstdc++ inside', ({ bytes }) => {
    expect(bytes).not.toMatch(/libstdc\+\+\.so|\bGLIBCXX_|\bCXXABI_/)
  })

  it.each(addons)('of $platform shows no symbol but the two that Node calls', ({ bytes }) => {
    // The names of C++ functions start with _Z; those of the static library are local, and stripped.
    expect(bytes).not.toMatch(/\b_ZN?S[a-z]/)
    expect(bytes).toContain('napi_register_module_v1')
  })

  it.each(addons)('of $platform links no NVIDIA library: they are opened at first use', ({ bytes }) => {
    expect(bytes).toContain('libc.so.6')
    expect(bytes).not.toMatch(/libcuda\.so|libnvrtc\.so|libnvidia-ml\.so/)
  })

  for (const [what, header, check] of [
    ['the driver API as cuda.h does', cudaHeader, 'abi_check.cpp'],
    ['NCCL as nccl.h does', ncclHeader, 'nccl_abi_check.cpp'],
  ] as const)
    it.skipIf(!existsSync(header))(`declares ${what} (skipped without ${header})`, () => {
      const { stderr, status } = spawnSync(
        'c++',
        [
          '-std=c++17',
          '-fsyntax-only',
          '-I/usr/local/cuda/include',
          `-I${sharedHeaders}`,
          `${packageFolder}native/test/${check}`,
        ],
        { encoding: 'utf8' },
      )
      expect(stderr).toBe('')
      expect(status).toBe(0)
    })

  it('lets a process exit with an open group', () => {
    const { stdout, status } = runScript(`
      addon.openGroup(libraries, [0, 1]).then(async (group) => {
        await group.allocate(0, 1024, true)
        process.on('exit', () => console.log('exits'))
      })`)
    expect({ stdout, status }).toEqual({ stdout: 'exits\n', status: 0 })
  })

  it('uses no CPU while a group is open and idle', () => {
    const { stdout } = runScript(`
      addon.openGroup(libraries, [0]).then(async (group) => {
        // The minimum of up to sixty intervals: a garbage collector may run in one of them, but busy waiting
        // would use CPU in all.
        let least = 1
        for (let part = 0; part < 60 && least > 0.02; part++) {
          const before = process.cpuUsage()
          await new Promise((resolve) => setTimeout(resolve, 500))
          const { user, system } = process.cpuUsage(before)
          least = Math.min(least, (user + system) / 5e5)
        }
        console.log(String(least))
        void group
      })`)
    expect(Number(stdout)).toBeLessThan(0.02)
  })

  it('does not access memory of a terminated thread, however long a launch of its run takes', () => {
    // The word has its own page, so that a later read crashes.
    const running = `
      const addon = require(${JSON.stringify(prebuilt)})
      addon.openGroup(${JSON.stringify(fakeLibraries().cuda)}, [0]).then(async (group) => {
        await group.createGraph(1, 0, Float64Array.of(0))
        group.run({ before: [], steps: [{ graphs: [1], count: 1e6 }], uniformTargets: [], collect: [], abortWord: new Int32Array(1e6) })
        require('node:worker_threads').parentPort.postMessage('runs')
      })`
    const { stdout, stderr, signal } = runScript(`
      const { Worker } = require('node:worker_threads')
      process.env.FAKE_CUDA_BUSY_MS = '2600'
      const worker = new Worker(${JSON.stringify(running)}, { eval: true, execArgv: [] })
      worker.once('message', async () => {
        await worker.terminate()
        await new Promise((resolve) => setTimeout(resolve, 1200))
        console.log('goes on')
      })`)
    expect({ stdout, signal }, stderr).toEqual({ stdout: 'goes on\n', signal: null })
  })

  it.each(['read', 'write'])('touches nothing of a thread that is terminated during a long %s', (move) => {
    // Parts of 16 MiB, each of which takes 300 ms. A later access to the array crashes, because its pages are
    // gone.
    const moving = `
      const addon = require(${JSON.stringify(prebuilt)})
      addon.openGroup(${JSON.stringify(fakeLibraries().cuda)}, [0]).then(async (group) => {
        const byteLength = 16 * 2 ** 24
        const address = await group.allocate(0, byteLength, false)
        const region = { gpu: 0, address, rowByteLength: byteLength, rows: 1, rowByteStride: byteLength }
        group.${move}(region, new Uint8Array(byteLength)).catch(() => {})
        setTimeout(() => require('node:worker_threads').parentPort.postMessage('moves'), 500)
      })`
    const { stdout, stderr, signal } = runScript(`
      const { Worker } = require('node:worker_threads')
      Object.assign(process.env, { FAKE_CUDA_COPY_MS: '300' })
      const worker = new Worker(${JSON.stringify(moving)}, { eval: true, execArgv: [] })
      worker.once('message', async () => {
        await worker.terminate()
        await new Promise((resolve) => setTimeout(resolve, 3000))
        console.log('goes on')
      })`)
    expect({ stdout, signal }, stderr).toEqual({ stdout: 'goes on\n', signal: null })
  })

  it('does not access the uniforms of a terminated thread, however long the copy before them takes', () => {
    // They have pages of their own, so that a later access crashes.
    const running = `
      const addon = require(${JSON.stringify(prebuilt)})
      addon.openGroup(${JSON.stringify(fakeLibraries().cuda)}, [0]).then(async (group) => {
        const uniforms = new Uint8Array(2 ** 24)
        const address = await group.allocate(0, uniforms.length, true)
        group.run({
          before: [], steps: [], collect: [], abortWord: new Int32Array(1),
          uniforms, uniformTargets: [{ gpu: 0, address }, { gpu: 0, address }],
        })
        require('node:worker_threads').parentPort.postMessage('runs')
      })`
    const { stdout, stderr, signal } = runScript(`
      const { Worker } = require('node:worker_threads')
      process.env.FAKE_CUDA_COPY_MS = '2600'
      const worker = new Worker(${JSON.stringify(running)}, { eval: true, execArgv: [] })
      worker.once('message', async () => {
        await worker.terminate()
        await new Promise((resolve) => setTimeout(resolve, 4000))
        console.log('goes on')
      })`)
    expect({ stdout, signal }, stderr).toEqual({ stdout: 'goes on\n', signal: null })
  })

  it('ends at process.exit right after 20,000 frees', () => {
    const ends = [1, 2, 3].map(() =>
      runScript(`
        addon.openGroup(libraries, [0, 1]).then(async (group) => {
          const addresses = await Promise.all(Array.from({ length: 20_000 }, () => group.allocate(0, 256, false)))
          for (const address of addresses) group.free(address)
          process.exit(7)
        })`),
    )
    expect(ends).toEqual(ends.map(() => ({ stdout: '', stderr: '', status: 7, signal: null })))
  })

  it('ends at process.exit with a run in flight', () => {
    const { status } = runScript(`
      process.env.FAKE_CUDA_BUSY_MS = '100'
      addon.openGroup(libraries, [0]).then(async (group) => {
        await group.createGraph(1, 0, Float64Array.of(0))
        group.run({ before: [], steps: [{ graphs: [1], count: 100_000 }], uniformTargets: [], collect: [], abortWord: new Int32Array(1) })
        setTimeout(() => process.exit(7), 200)
      })`)
    // This run would take hours.
    expect(status).toBe(7)
  })

  it('ends at process.exit with its code while a kernel is compiled', () => {
    const { status, signal, stdout } = runScript(`
      process.env.FAKE_NVRTC_MS = '6000'
      const source = 'extern "C" __global__ void f() {}'
      process.on('exit', () => addon.endWithJobs())
      addon.nvrtcCompile(libraries, { source, name: 'f', options: [] }, 0)
      setTimeout(() => { console.log('exits'); process.exit(7) }, 200)`)
    expect({ status, signal, stdout }).toEqual({ status: 7, signal: null, stdout: 'exits\n' })
  })

  it('compiles on while a compilation that is abandoned goes on, and ends without waiting for it', () => {
    const start = performance.now()
    const { status, stdout } = runScript(`
      process.env.FAKE_NVRTC_MS = '60000'
      const source = 'extern "C" __global__ void f() {}'
      process.on('exit', () => addon.endWithJobs())
      addon.nvrtcCompile(libraries, { source, name: 'f', options: [] }, 5).then(() => console.log('ended'))
      setTimeout(async () => {
        addon.abandonCompiler(5)
        process.env.FAKE_NVRTC_MS = '0'
        const { compiled } = await addon.nvrtcCompile(libraries, { source, name: 'f', options: [] }, 1)
        console.log(compiled)
      }, 500)`)
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'true\n' })
    expect(performance.now() - start).toBeLessThan(30_000)
  })

  it.each([
    ['while a kernel is compiled', '', { signal: 'SIGTERM', stdout: '' }],
    ['after a kernel is compiled', 'await compiling;', { signal: 'SIGTERM', stdout: '' }],
    [
      'by its own handler after a kernel is compiled',
      "process.on('SIGTERM', () => { console.log('handled'); process.exit() }); await compiling;",
      { signal: null, stdout: 'handled\n' },
    ],
  ])('ends by SIGTERM %s: NVRTC restores signal handlers without their flags', (_, before, ending) => {
    const { signal, stdout, stderr } = runScript(`
      const source = 'extern "C" __global__ void f() {}'
      const compiling = Promise.all([1, 2, 3].map((compiler) => addon.nvrtcCompile(libraries, { source, name: 'f', options: [] }, compiler)))
      setInterval(() => {}, 1000)
      const wait = async () => {
        // Only after a thread has started the compilation.
        await new Promise((resolve) => setTimeout(resolve, 50))
        ${before}
        process.kill(process.pid, 'SIGTERM')
      }
      wait()`)
    expect({ signal, stdout }, stderr).toEqual(ending)
  })

  it('closes a library that is not usable, and keeps one that is', () => {
    const { stdout, stderr } = runScript(`
      const { copyFileSync, mkdtempSync, readFileSync, rmSync } = require('node:fs')
      const folder = mkdtempSync(require('node:os').tmpdir() + '/tandem-libraries-')
      const copies = ['driver', 'nvrtc', 'nvml'].map((name) => folder + '/' + name + '.so')
      for (const copy of copies) copyFileSync(libraries[0], copy)
      const open = () => copies.map((copy) => readFileSync('/proc/self/maps', 'utf8').includes(copy))
      const code = (promise) => promise.then(() => 'none', ({ nativeCode }) => nativeCode)
      const attempt = async () => {
        const codes = []
        codes.push(await code(addon.probe([copies[0]])))
        codes.push(await code(addon.nvrtcVersion([copies[1]])))
        codes.push(await code(addon.nvmlDevices([copies[2]])))
        return { codes, open: open() }
      }
      ;(async () => {
        // A driver that is too old, and an NVML that cannot be initialized.
        Object.assign(process.env, { FAKE_CUDA_VERSION: '11080', FAKE_NVML_ERROR: '1' })
        const outcomes = []
        for (let turn = 0; turn < 3; turn++) outcomes.push(await attempt())
        for (const name of ['FAKE_CUDA_VERSION', 'FAKE_NVML_ERROR']) delete process.env[name]
        outcomes.push(await attempt())
        rmSync(folder, { recursive: true })
        console.log(JSON.stringify(outcomes))
      })()`)
    const useless = { codes: ['no-driver', 'none', 'driver'], open: [false, true, false] }
    expect(JSON.parse(stdout || stderr)).toEqual([
      ...[useless, useless, useless],
      { codes: ['none', 'none', 'none'], open: [true, true, true] },
    ])
  })

  it('compares the bytes of a transfer with those of the array, and keeps the array until it is done', () => {
    const { stdout, stderr } = runScript(`
      process.env.FAKE_CUDA_BUSY_MS = '300'
      const byteLength = 4_000_000
      addon.openGroup(libraries, [0]).then(async (group) => {
        const address = await group.allocate(0, byteLength, true)
        const region = { gpu: 0, address, rowByteLength: byteLength, rows: 1, rowByteStride: byteLength }
        for (const length of [byteLength - 1, byteLength + 1, 0])
          for (const move of ['write', 'read'])
            await group[move](region, new Uint8Array(length)).catch(({ nativeCode }) => console.log(nativeCode))
        await group.createGraph(1, 0, Float64Array.of(0))
        group.run({ before: [], steps: [{ graphs: [1], count: 1 }], uniformTargets: [], collect: [], abortWord: new Int32Array(1) })
        // After the run; nothing else references the array.
        const write = () => void group.write(region, new Uint8Array(byteLength).fill(7))
        write()
        for (let turn = 0; turn < 5; turn++) {
          gc()
          await new Promise((resolve) => setImmediate(resolve))
        }
        const into = new Uint8Array(byteLength)
        await group.read(region, into)
        console.log(into.every((byte) => byte === 7))
      })`)
    expect(stdout, stderr).toBe(`${'validation\n'.repeat(6)}true\n`)
  })

  it('works together with another copy of itself, as when an installer or a bundler duplicates it', () => {
    const { stdout, stderr } = runScript(`
      const { copyFileSync, mkdtempSync, rmSync } = require('node:fs')
      const folder = mkdtempSync(require('node:os').tmpdir() + '/tandem-copies-')
      copyFileSync(${JSON.stringify(prebuilt)}, folder + '/copy.node')
      const copy = require(folder + '/copy.node')
      rmSync(folder, { recursive: true })
      const compute = async (group, value) => {
        const address = await group.allocate(0, 64, true)
        const region = { gpu: 0, address, rowByteLength: 64, rows: 1, rowByteStride: 64 }
        const read = new Uint8Array(64)
        await group.write(region, new Uint8Array(64).fill(value))
        await group.read(region, read)
        return new Set(read).size === 1 && read[0] === value
      }
      const attempt = async () => {
        const groups = [await addon.openGroup(libraries, [0, 1]), await copy.openGroup(libraries, [0, 1])]
        const right = await Promise.all(groups.map((group, i) => compute(group, i + 1)))
        const first = await groups[0].close()
        right.push(await compute(groups[1], 3))
        console.log(copy !== addon, right.join(), first.length, (await groups[1].close()).length)
      }
      attempt()`)
    expect(stdout, stderr).toBe('true true,true,true 0 0\n')
  })

  it('turns wrong arguments into exceptions instead of crashing', () => {
    const { stdout, status } = runScript(`
      for (const call of [() => addon.probe(), () => addon.openGroup(1, 2), () => addon.nvrtcCompile([], {}), () => addon.nvmlRead([], 3)]) {
        try { const p = call(); p?.catch?.(() => {}); console.log('no exception') } catch (error) { console.log('exception') }
      }`)
    expect(status).toBe(0)
    expect(stdout.trim().split('\n').slice(0, 2)).toEqual(['exception', 'exception'])
  })
})
