import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isGpuError } from '@tandem-gpu/core'
import type { Runtime } from '@tandem-gpu/core/backend'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { LocalRuntime } from './local-runtime.ts'
import { configureFake } from './testing/fake-driver.ts'
import { fakeRuntimesOfTests } from './testing/fake-runtime.ts'
import { dispatch, plan, region } from './testing/plan-text.ts'
import { randomProgramDifferences } from './testing/random-program.ts'
import { testKernelSource } from './testing/test-kernels.ts'

const cacheDirectory = join(tmpdir(), `tandem-cache-${randomUUID()}`)
const open = fakeRuntimesOfTests({ cacheDirectory })

beforeEach(() => configureFake())
afterAll(() => rmSync(cacheDirectory, { recursive: true, force: true }))

function u32(length: number, value: (index: number) => number = (index) => index): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Uint32Array.from({ length }, (_, index) => value(index)).buffer)
}

/** A program whose repetitions add `addend` to each of the four zeros of `a`. */
async function accumulator(runtime: LocalRuntime, addend: number) {
  const kernel = await runtime.compile(testKernelSource('add'))
  const a = await runtime.allocate(0, 16, { label: 'a', zero: true })
  const whole = region(0, 0, 16)
  const commands = [dispatch(0, whole, whole, 0, { afterPrevious: [0] })]
  return { a, executable: await runtime.instantiate(plan([a], commands, [kernel], [addend])) }
}

async function readU32(
  runtime: Runtime,
  allocation: Awaited<ReturnType<Runtime['allocate']>>,
): Promise<number[]> {
  const bytes = new Uint8Array(allocation.byteLength)
  await runtime.read(
    { allocation, byteOffset: 0, rowByteLength: bytes.length, rows: 1, rowByteStride: bytes.length },
    bytes,
  )
  return [...new Uint32Array(bytes.buffer)]
}

describe('memory', () => {
  it('zeroes allocations when asked and reports live ones', async () => {
    const runtime = await open([0])
    const a = await runtime.allocate(0, 1024, { label: 'a', zero: true })
    expect(await readU32(runtime, a)).toEqual(new Array(256).fill(0))
    expect(runtime.live()).toEqual({ allocations: 1, hostAllocations: 0, kernels: 0, executables: 0 })
    runtime.free(a)
    expect(runtime.live().allocations).toBe(0)
  })

  it('writes and reads a 2-D region, dense on the host', async () => {
    const runtime = await open([0])
    const allocation = await runtime.allocate(0, 10 * 40, { label: 'm', zero: true })
    const block = { allocation, byteOffset: 2 * 40 + 8, rowByteLength: 12, rows: 3, rowByteStride: 40 }
    await runtime.write(
      block,
      u32(9, (index) => index + 1),
    )
    const back = new Uint8Array(36)
    await runtime.read(block, back)
    expect([...new Uint32Array(back.buffer)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    const all = await readU32(runtime, allocation)
    expect(all.filter((value) => value !== 0)).toHaveLength(9)
    expect(all.slice(22, 25)).toEqual([1, 2, 3])
    expect(all.slice(32, 35)).toEqual([4, 5, 6])
  })

  it('writes and reads rows that are further apart than the driver copies at once', async () => {
    // The fake driver leaves large blocks untouched, so this needs hardly any memory.
    configureFake({ FAKE_CUDA_MEMORY: 2 ** 35 })
    const runtime = await open([0])
    const rowByteStride = 2 ** 32
    const byteLength = 3 * rowByteStride
    const allocation = await runtime.allocate(0, byteLength, { label: 'm', zero: false })
    const rows = { allocation, byteOffset: 16, rowByteLength: 32, rows: 3, rowByteStride }
    await runtime.write(rows, u32(24))
    const found = new Uint8Array(96)
    await runtime.read(rows, found)
    expect(found).toEqual(u32(24))
    const last = { ...rows, byteOffset: 16 + 2 * rowByteStride, rows: 1 }
    await runtime.read(last, found.subarray(0, 32))
    expect(found.subarray(0, 32)).toEqual(u32(8, (i) => 16 + i))
    runtime.free(allocation)
  })

  it('stages transfers larger than its page-locked buffers, contiguous and in rows', async () => {
    const runtime = await open([0])
    const byteLength = 50 * 2 ** 20
    const allocation = await runtime.allocate(0, byteLength, { label: 'big', zero: false })
    const words = byteLength / 4
    const data = u32(words, (index) => (index * 2654435761) >>> 0)
    await runtime.write(
      { allocation, byteOffset: 0, rowByteLength: byteLength, rows: 1, rowByteStride: byteLength },
      data,
    )
    const rows = { allocation, byteOffset: 4, rowByteLength: 1000, rows: 40_000, rowByteStride: 1200 }
    const back = new Uint8Array(40_000_000)
    await runtime.read(rows, back)
    for (const row of [0, 1, 16_776, 16_777, 39_999]) {
      expect(
        Buffer.compare(
          back.subarray(row * 1000, row * 1000 + 1000),
          data.subarray(row * 1200 + 4, row * 1200 + 1004),
        ),
      ).toBe(0)
    }
  })

  it('says what was requested and what is free when memory runs out', async () => {
    configureFake({ FAKE_CUDA_MEMORY: 1_000_000 })
    const runtime = await open([0])
    const error = await runtime.allocate(0, 3_000_000, { label: 'huge', zero: true }).catch((e: unknown) => e)
    expect(isGpuError(error, 'out-of-memory')).toBe(true)
    expect(String(error)).toMatch(
      /'huge'.*3000000 bytes requested, 999984 bytes of 1000000 bytes free on CUDA device 0/,
    )
    await runtime.allocate(0, 500_000, { label: 'fits', zero: true })
  })

  it('detaches host memory when it is freed, small and large', async () => {
    const runtime = await open([0])
    for (const byteLength of [64, 2 ** 30 + 4096]) {
      const host = runtime.allocateHost(byteLength)
      expect(host.arrayBuffer.byteLength).toBe(byteLength)
      expect(new Uint8Array(host.arrayBuffer, byteLength - 4)[3]).toBe(0)
      runtime.freeHost(host)
      expect(host.arrayBuffer.byteLength).toBe(0)
    }
    expect(runtime.live().hostAllocations).toBe(0)
  })
})

describe('programs', () => {
  it.each(['one-graph', 'graph-per-gpu', 'auto'] as const)(
    'runs commands of every kind in the order of the edges on two GPUs: %s',
    async (lowering) => {
      for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
        configureFake({ FAKE_CUDA_SEED: seed })
        const runtime = await open([0, 1], { lowering })
        const kernel = await runtime.compile(testKernelSource('add'))
        const host = runtime.allocateHost(64)
        new Uint32Array(host.arrayBuffer).set(Array.from({ length: 16 }, (_, index) => index))
        const a = await runtime.allocate(0, 64, { label: 'a', zero: true })
        const b = await runtime.allocate(1, 64, { label: 'b', zero: true })
        const out = runtime.allocateHost(64)
        const whole = (buffer: number) => region(buffer, 0, 64)
        const program = plan(
          [host, a, b, out],
          [
            { kind: 'upload', device: 0, source: whole(0), target: whole(1), after: [], afterPrevious: [3] },
            dispatch(0, whole(1), whole(1), 0, { after: [0] }),
            {
              kind: 'fill',
              device: 1,
              target: whole(2),
              pattern: 7,
              patternByteLength: 4,
              after: [],
              afterPrevious: [5],
            },
            {
              kind: 'copy',
              device: 1,
              source: region(1, 16, 32),
              target: region(2, 32, 32),
              after: [1, 2],
              afterPrevious: [],
            },
            dispatch(1, whole(2), whole(2), 1, { after: [3] }),
            {
              kind: 'download',
              device: 1,
              source: whole(2),
              target: whole(3),
              after: [4],
              afterPrevious: [],
            },
          ],
          [kernel],
          [100, 1000],
        )
        const executable = await runtime.instantiate(program)
        const { seconds, clock } = await runtime.run(executable, { times: 50 })
        expect(clock).toBe('device')
        expect(seconds).toBeGreaterThan(0)
        const expected = [
          ...new Array(8).fill(1007),
          ...Array.from({ length: 8 }, (_, index) => index + 4 + 100 + 1000),
        ]
        expect([...new Uint32Array(out.arrayBuffer)]).toEqual(expected)
        runtime.release(executable)
        runtime.releaseKernel(kernel)
        expect(await runtime.dispose()).toEqual([])
      }
    },
  )

  it.each(['one-graph', 'graph-per-gpu', 'auto'] as const)(
    'carries out random programs on three GPUs as if one after another: %s',
    async (lowering) => {
      configureFake({ FAKE_CUDA_DEVICES: 3 })
      const runtime = await open([0, 1, 2, 1], { lowering })
      for (let seed = 1; seed <= 25; seed += 1) {
        expect(
          await randomProgramDifferences(runtime, seed, 4 + (seed % 20), [1, 3, 40, 1, 7, 1, 300, 2]),
        ).toEqual([])
      }
    },
  )

  it('copies blocks between leading dimensions, and bounces between GPUs that cannot reach each other', async () => {
    for (const peers of ['all', 'none']) {
      configureFake({ FAKE_CUDA_PEERS: peers })
      const runtime = await open([0, 1])
      expect(runtime.canAccessPeer(0, 1)).toBe(peers === 'all')
      const a = await runtime.allocate(0, 400, { label: 'a', zero: true })
      const b = await runtime.allocate(1, 240, { label: 'b', zero: true })
      await runtime.write(
        { allocation: a, byteOffset: 0, rowByteLength: 400, rows: 1, rowByteStride: 400 },
        u32(100),
      )
      const program = plan(
        [a, b],
        [
          {
            kind: 'copy',
            device: 1,
            source: region(0, 40, 12, 4, 40),
            target: region(1, 24, 12, 4, 24),
            after: [],
            afterPrevious: [0],
          },
        ],
      )
      await runtime.run(await runtime.instantiate(program), { times: 3 })
      const result = await readU32(runtime, b)
      for (let row = 0; row < 4; row += 1) {
        const source = (row + 1) * 10
        expect(result.slice((row + 1) * 6, (row + 1) * 6 + 4)).toEqual([source, source + 1, source + 2, 0])
      }
      expect(await runtime.dispose()).toEqual([])
    }
  })

  it('accumulates over any number of repetitions: unrolled graphs, a rest, and one at a time', async () => {
    const runtime = await open([0])
    const { a, executable } = await accumulator(runtime, 3)
    let total = 0
    for (const times of [1, 2, 7, 256, 257, 1000, 509, 1, 7]) {
      await runtime.run(executable, { times })
      total += times * 3
      expect(await readU32(runtime, a)).toEqual([total, total, total, total])
    }
  })

  it('copies a changed uniform block before the run, and calls take effect in order', async () => {
    const runtime = await open([0, 0])
    expect(runtime.canAccessPeer(0, 1)).toBe(true)
    const kernel = await runtime.compile(testKernelSource('add'))
    const a = await runtime.allocate(1, 16, { label: 'a', zero: true })
    const whole = region(0, 0, 16)
    const program = plan([a], [dispatch(1, whole, whole, 0, { afterPrevious: [0] })], [kernel], [1])
    const executable = await runtime.instantiate(program)
    const uniformBlock = (value: number) => {
      const block = program.uniformBlock.slice()
      new DataView(block.buffer).setUint32(0, value, true)
      return block
    }
    const first = runtime.run(executable, { times: 2 })
    const second = runtime.run(executable, { times: 3, uniformBlock: uniformBlock(10) })
    const seen = readU32(runtime, a)
    const third = runtime.run(executable, { times: 2, uniformBlock: uniformBlock(100) })
    await Promise.all([first, second, third])
    expect((await seen)[0]).toBe(32)
    expect((await readU32(runtime, a))[3]).toBe(232)
  })

  it('refuses a binding offset that passes 2^53 no more than one that passes 2^32', async () => {
    configureFake({ FAKE_CUDA_MEMORY: 2 ** 34 })
    const runtime = await open([0])
    const byteLength = 2 ** 32 + 512
    const a = await runtime.allocate(0, byteLength, { label: 'a', zero: false })
    const kernel = await runtime.compile(testKernelSource('add'))
    const end = region(0, 2 ** 32 + 256, 16)
    const executable = await runtime.instantiate(
      plan(
        [a],
        [
          {
            kind: 'fill',
            device: 0,
            target: end,
            pattern: 5,
            patternByteLength: 4,
            after: [],
            afterPrevious: [],
          },
          dispatch(0, end, end, 0, { after: [0] }),
        ],
        [kernel],
        [6],
      ),
    )
    await runtime.run(executable, { times: 1 })
    const back = new Uint8Array(16)
    await runtime.read(
      { allocation: a, byteOffset: 2 ** 32 + 256, rowByteLength: 16, rows: 1, rowByteStride: 16 },
      back,
    )
    expect([...new Uint32Array(back.buffer)]).toEqual([11, 11, 11, 11])
  })

  it('aborts between launches and can run again', async () => {
    configureFake({ FAKE_CUDA_BUSY_MS: 5 })
    const runtime = await open([0])
    const { a, executable } = await accumulator(runtime, 1)
    const controller = new AbortController()
    const running = runtime.run(executable, { times: 1_000_000, signal: controller.signal })
    setTimeout(() => controller.abort(), 60)
    const error = await running.catch((e: unknown) => e)
    expect(isGpuError(error, 'aborted')).toBe(true)
    const [done] = await readU32(runtime, a)
    expect(done).toBeLessThan(1_000_000)
    await runtime.run(executable, { times: 2 })
    expect((await readU32(runtime, a))[0]).toBe(done! + 2)
  })

  it('checks less and less often whether a run has ended', async () => {
    configureFake({ FAKE_CUDA_BUSY_MS: 400 })
    const runtime = await open([0])
    const { executable } = await accumulator(runtime, 1)
    mkdirSync(cacheDirectory, { recursive: true })
    const trace = join(cacheDirectory, 'trace')
    process.env.FAKE_TRACE = trace
    // Four launches; the last two wait for earlier ones.
    await runtime.run(executable, { times: 1024 })
    delete process.env.FAKE_TRACE
    const calls = readFileSync(trace, 'utf8').split('\n')
    expect(calls.filter((name) => name === 'cuGraphLaunch')).toHaveLength(4)
    const looks = calls.filter((name) => name === 'cuEventQuery').length
    // 1000 ln (1.6 s / 0.8 s) for the end, at which nothing is looked at before the second launch has ended,
    // 8 ln (400 ms / 160 µs) before each of two launches and what fits into 160 µs; every 50 µs it would be
    // 15,000.
    expect(looks).toBeLessThan(6000)
  })

  it('has one span per command of the last repetition, on one clock', async () => {
    const runtime = await open([0, 1])
    const a = await runtime.allocate(0, 64, { label: 'a', zero: true })
    const b = await runtime.allocate(1, 64, { label: 'b', zero: true })
    const fill = (device: number, buffer: number, after: number[]) => ({
      kind: 'fill' as const,
      device,
      target: region(buffer, 0, 64),
      pattern: 1,
      patternByteLength: 4 as const,
      after,
      afterPrevious: [],
    })
    const executable = await runtime.instantiate(
      plan([a, b], [fill(0, 0, []), fill(1, 1, [0]), fill(0, 0, [1])]),
    )
    const { spans } = await runtime.run(executable, { times: 4, profile: true })
    expect(spans?.map(({ command, device, repetition }) => ({ command, device, repetition }))).toEqual([
      { command: 0, device: 0, repetition: 3 },
      { command: 1, device: 1, repetition: 3 },
      { command: 2, device: 0, repetition: 3 },
    ])
    // The fake's clocks are 100 s apart: without calibration, the second span would be far from its
    // neighbours.
    for (const [index, span] of spans!.entries()) {
      expect(span.endSeconds).toBeGreaterThanOrEqual(span.startSeconds)
      if (index > 0) expect(span.startSeconds).toBeGreaterThan(spans![index - 1]!.endSeconds - 1)
    }
  })

  it('reports the first access outside a view: kernel, binding, index, thread', async () => {
    const runtime = await open([0])
    const kernel = await runtime.compile(testKernelSource('trapping', 'trap'))
    const a = await runtime.allocate(0, 1024, { label: 'a', zero: true })
    const executable = await runtime.instantiate(
      plan(
        [a],
        [dispatch(0, region(0, 0, 64), region(0, 268, 8, 3, 32), 0, { workgroups: 3 })],
        [kernel],
        [1],
      ),
    )
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const error = await runtime.run(executable, { times: 1 }).catch((e: unknown) => e)
      expect(isGpuError(error, 'validation')).toBe(true)
      expect(String(error)).toMatch(
        /'trapping' accesses element 7 of 'target'.*'c0' \(command 0\).*workgroup \(1, 0, 0\), invocation \(2, 0, 0\)/,
      )
    }
    // The view that the kernel receives: 12 bytes after the bound offset 256.
    expect((await readU32(runtime, a)).slice(64, 68)).toEqual([12, 8, 3, 32])
  })
})
