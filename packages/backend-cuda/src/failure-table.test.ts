// Every function of libcuda, NVRTC, NVML and NCCL that the addon calls fails in every distinct way, at its
// first, a middle and its last call. The outcomes are in testdata/failures.txt, which the long form writes
// (npm run test:long); a new function has no lines there, and fails the test.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import type { Libraries } from './libraries.ts'
import type { NativeAddon } from './native-addon.ts'
import {
  type Noticed,
  runMessagesScenario,
  runQueueScenario,
  runScenario,
  runSharedScenario,
} from './testing/failure-scenario.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'

const packageFolder = fileURLToPath(new URL('..', import.meta.url))
const addonPath = `${packageFolder}prebuilds/${process.platform}-${process.arch}/@tandem-gpu+backend-cuda.node`
const library = fakeLibraries().cuda[0]!
const folder = mkdtempSync(join(tmpdir(), 'tandem-failures-'))
const require = createRequire(import.meta.url)
const cacheDirectory = join(folder, 'kernels')
afterAll(() => {
  configureFake()
  rmSync(folder, { recursive: true, force: true })
})

/**
 * Results of each class for each library, and the codes that they may cause. A fault makes everything after
 * it fail.
 */
const driverClasses = [
  { name: 'out of memory', result: 2, codes: ['out-of-memory'] },
  { name: 'fault', result: 700, codes: ['device-lost'] },
  { name: 'not supported', result: 801, codes: ['unsupported'] },
  { name: 'invalid value', result: 1, codes: ['driver'] },
  { name: 'unknown', result: 999, codes: ['driver'] },
]
const nvrtcClasses = [
  { name: 'out of memory', result: 1, codes: ['out-of-memory'] },
  { name: 'invalid value', result: 3, codes: ['driver', 'unsupported'] },
  { name: 'unknown', result: 999, codes: ['driver', 'unsupported'] },
]
const nvmlClasses = [
  { name: 'not supported', result: 3, codes: ['unsupported'] },
  { name: 'lost', result: 15, codes: ['driver'] },
  { name: 'out of memory', result: 20, codes: ['driver'] },
  { name: 'invalid value', result: 2, codes: ['driver'] },
  { name: 'unknown', result: 999, codes: ['driver'] },
]

const ncclClasses = [
  { name: 'failed call of CUDA', result: 1, codes: ['driver'] },
  { name: 'invalid usage', result: 5, codes: ['driver'] },
]

/** Codes of some calls whose failure has a specific meaning. */
const alsoCodes: Readonly<Record<string, readonly string[]>> = {
  cuInit: ['no-driver'],
  nvrtcVersion: ['unsupported'],
  ncclGetVersion: ['unsupported'],
}
/** Calls whose failure has no effect in at least one place, with the reason. */
const unnoticed: Readonly<Record<string, string>> = {
  cuCtxSetCurrent: 'before something is given back, the call that gives it back tells',
  cuStreamSynchronize: 'the wait before something is freed; a fault shows at the next call',
  cuEventQuery: 'how often it is polled differs from run to run',
  cuMemAllocFromPoolAsync: 'tried again once freed memory is given back',
  nvmlDeviceGetCount_v2: 'links that are unknown, if those of GPUs are requested',
  nvmlDeviceGetHandleByUUID: 'links that are unknown',
  nvrtcDestroyProgram: 'the kernel is compiled',
  nvrtcGetProgramLogSize: 'the log of a kernel that compiles is of no use',
  nvmlSystemGetDriverVersion: 'the driver is called by its CUDA version',
  nvmlDeviceGetHandleByIndex_v2: 'a device that this user may not see is none of NVML',
  nvmlDeviceGetUUID: 'the bus id identifies the device',
  nvmlDeviceGetPciInfo_v3: 'the UUID identifies the device',
  nvmlDeviceGetUtilizationRates: 'a reading that is missing',
  nvmlDeviceGetMemoryInfo: 'a reading that is missing',
  nvmlDeviceGetPowerUsage: 'a reading that is missing',
  nvmlDeviceGetEnforcedPowerLimit: 'a reading that is missing',
  nvmlDeviceGetTemperature: 'a reading that is missing',
  nvmlDeviceGetFanSpeed: 'a reading that is missing',
  nvmlDeviceGetComputeRunningProcesses_v3: 'a reading that is missing',
  nvmlSystemGetProcessName: 'a name that is missing',
  nvmlDeviceGetNvLinkState: 'a link that does not count',
  nvmlDeviceGetNvLinkRemotePciInfo_v2: 'a link that does not count',
  nvmlDeviceGetNvLinkRemoteDeviceType: 'a link that counts as direct',
  nvmlDeviceGetTopologyCommonAncestor: 'links that are unknown',
}
/** Calls that only follow a failure: the failure, and the code that it has by itself. */
const behind: Readonly<Record<string, readonly [symbol: string, result: number, code: string]>> = {
  cuGetErrorName: ['cuStreamCreateWithPriority', 999, 'driver'],
  cuGetErrorString: ['cuStreamCreateWithPriority', 999, 'driver'],
  cuMemGetInfo: ['cuGraphInstantiateWithFlags', 2, 'out-of-memory'],
  cuMemPoolTrimTo: ['cuMemAllocFromPoolAsync', 2, 'out-of-memory'],
  nvrtcGetProgramLog: ['nvrtcCompileProgram', 6, 'compilation'],
}
/** Functions that return a text and therefore cannot fail. */
const texts = ['nvrtcGetErrorString', 'nvmlErrorString', 'ncclGetErrorString', 'ncclGetLastError']

/** Calls that are only made to share memory with other processes. */
const sharing = [
  ...['cuMemAlloc', 'cuMemFree', 'cuMemGetAddressRange'],
  ...['cuIpcGetMemHandle', 'cuIpcOpenMemHandle', 'cuIpcCloseMemHandle'],
]

/** Driver calls that are only made for messages between GPUs. */
const capturing = ['cuStreamBeginCapture', 'cuStreamEndCapture', 'cuGraphAddChildGraphNode']

/** Driver calls that are only made for command queues. */
const queued = ['cuMemcpyAsync', 'cuLaunchKernel']

/**
 * Called until the work is done: the number of calls depends on the machine's load, so only the first call is
 * the same in every run.
 */
const polled = new Set(['cuEventQuery', 'ncclCommGetAsyncError'])

const table = `${packageFolder}testdata/failures.txt`
const long = process.env.TANDEM_LONG === '1'

/**
 * GPUs 0 to 2 have links, GPU 3 has none. If one side of a ping-pong is not launched, the other soon gives
 * up, as on GPUs.
 */
const machineSettings = { FAKE_CUDA_DEVICES: 4, FAKE_CUDA_IPC: 'own', FAKE_CUDA_PING_PONG_SECONDS: 1 }

let copies = 0
/** An addon and a library that no test has used, because faults and loaded libraries persist. */
function freshMachine(withCompiler: boolean) {
  const serial = ++copies
  const addonCopy = join(folder, `${serial}.node`)
  const libraryCopy = join(folder, `${serial}.so`)
  copyFileSync(addonPath, addonCopy)
  copyFileSync(library, libraryCopy)
  const addon = require(addonCopy) as NativeAddon
  const own = [libraryCopy]
  const libraries: Libraries = { cuda: own, nvrtc: own, nvml: own, nccl: own }
  const forget = () => {
    for (const path of [addonCopy, libraryCopy]) rmSync(path)
  }
  return { addon, libraries, cacheDirectory: withCompiler ? undefined : cacheDirectory, forget }
}

function importTable(file: string): string[] {
  const text = readFileSync(`${packageFolder}native/src/${file}`, 'utf8')
  return [...text.matchAll(/(?:\{this, |find\()"(\w+)"/g)]
    .map(([, symbol]) => symbol!)
    .filter((symbol, index, all) => all.indexOf(symbol) === index)
}

interface Row {
  readonly row: string
  readonly outcome: string
}

function lineOf({ row, outcome }: Row): string {
  return `${row} → ${outcome}`
}

function summary(noticed: readonly Noticed[]): string {
  if (noticed.length === 0) return 'nothing'
  return noticed.map(({ step, code }) => `${step}: ${code}`).join(', ')
}

it('reports every failure of every call as an error with a code, and frees what it can', async () => {
  const driver = [...new Set([...importTable('cuda_driver.cpp'), ...importTable('cuda_api.h')])].filter(
    (symbol) => ![...sharing, ...capturing, ...queued].includes(symbol),
  )
  const nvrtc = importTable('nvrtc_compiler.cpp')
  const nvml = importTable('nvml_monitor.cpp')
  const nccl = importTable('nccl_api.h')
  const trace = join(folder, 'trace')
  const counts = new Map<string, number>()
  /** The number of times that the scenario makes each of these calls if none fails. */
  const count = async (
    symbols: readonly string[],
    withCompiler: boolean,
    scenario: (machine: ReturnType<typeof freshMachine>) => Promise<readonly Noticed[]>,
  ) => {
    writeFileSync(trace, '')
    process.env.FAKE_TRACE = trace
    const machine = freshMachine(withCompiler)
    expect(await scenario(machine)).toEqual([])
    machine.forget()
    delete process.env.FAKE_TRACE
    const traced = readFileSync(trace, 'utf8').split('\n')
    for (const symbol of symbols) counts.set(symbol, traced.filter((name) => name === symbol).length)
  }
  for (const withCompiler of [true, false]) {
    configureFake(machineSettings)
    // Fills the cache of kernels.
    if (!withCompiler) {
      const filling = freshMachine(false)
      expect(await runScenario(filling)).toEqual([])
      filling.forget()
    }
    await count(withCompiler ? nvrtc : [...driver, ...nvml], withCompiler, runScenario)
  }
  configureFake(machineSettings)
  await count(sharing, false, runSharedScenario)
  configureFake(machineSettings)
  await count([...capturing, ...nccl], false, runMessagesScenario)
  configureFake(machineSettings)
  await count(queued, false, runQueueScenario)

  const found: Row[] = []
  const problems: string[] = []
  for (const [symbols, classes, scenario] of [
    [driver, driverClasses, runScenario],
    [nvrtc, nvrtcClasses, runScenario],
    [nvml, nvmlClasses, runScenario],
    [sharing, driverClasses, runSharedScenario],
    [capturing, driverClasses, runMessagesScenario],
    [queued, driverClasses, runQueueScenario],
    [nccl, ncclClasses, runMessagesScenario],
  ] as const) {
    for (const [index, symbol] of symbols.entries()) {
      if (texts.includes(symbol)) continue
      const count = counts.get(symbol)!
      const cause = behind[symbol]
      if ((count === 0) !== (cause !== undefined))
        problems.push(`${symbol} is called ${count} times where nothing fails`)
      const positions: (readonly [place: string, call: number])[] =
        cause === undefined ? [['first call', 1]] : [[`first call, behind a failing ${cause[0]}`, 1]]
      if (!polled.has(symbol)) {
        if (count > 2) positions.push(['middle call', Math.ceil(count / 2)])
        if (count > 1) positions.push(['last call', count])
      }
      for (const [turn, [place, position]] of positions.entries()) {
        for (const [sort, { name, result, codes }] of classes.entries()) {
          // All of them take minutes. The short form tests one class of failure for each call; over all
          // calls, every class is tested.
          if (!long && sort !== (index + turn) % classes.length) continue
          const row = `${symbol}, ${name}, ${place}`
          const machine = freshMachine(symbols === nvrtc)
          const failures = [`${symbol}:${result}:${position}:${copies}`]
          if (cause !== undefined) failures.push(`${cause[0]}:${cause[1]}:1`)
          configureFake({ ...machineSettings, FAKE_FAIL: failures.join(' ') })
          const noticed = await scenario(machine).catch((error: unknown) => {
            problems.push(`${row}: ${error}`)
            return []
          })
          for (const { code, message } of noticed)
            if (
              !/^(absence|note|unfreed)/.test(code) &&
              ![...codes, ...(alsoCodes[symbol] ?? []), cause?.[2]].includes(code)
            )
              problems.push(`${row}: ${code}: ${message}`)
          if (noticed.length === 0 && name !== 'fault' && !(symbol in unnoticed))
            problems.push(`${row}: nobody notices it`)
          found.push({ row, outcome: summary(noticed) })
          configureFake(machineSettings)
          // A fault in a call that closes a group is reported when the next one opens. Only faults persist.
          if (name === 'fault' && noticed.length === 0) {
            const later = await scenario(machine)
            if (!later.some(({ code }) => code === 'device-lost'))
              problems.push(`${row}: nobody notices it later`)
          }
          if (name === 'unknown' && turn === 0)
            for (const { message } of await scenario(machine)) problems.push(`${row}: and later ${message}`)
          machine.forget()
        }
      }
    }
  }
  expect(problems).toEqual([])
  if (long) return expect(`${found.map(lineOf).join('\n')}\n`).toMatchFileSnapshot(table)
  const known = readFileSync(table, 'utf8').split('\n')
  for (const row of found) expect(known).toContain(lineOf(row))
})
