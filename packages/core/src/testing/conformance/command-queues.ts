import { lower, parseWgsl, reflect } from '@tandem-gpu/wgsl'
import { describe, expect, type TestContext } from 'vitest'
import { commandWords, type QueueMessage } from '../../backend/command-queue.ts'
import type { KernelSource } from '../../backend/kernel-source.ts'
import { type GpuError, isGpuError } from '../../errors.ts'
import type { DeviceGroup } from '../../group/group.ts'
import { type DeviceCommands, openDeviceCommands } from '../../running/device-commands.ts'
import { expectElements, expectGpuError, type Suite } from './suite.ts'

/** y = 2 y + x, so that the order of dispatches shows. */
const doubleAndAdd = `
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(1) @binding(1) var<uniform> count: vec4u;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < count.x) { y[id.x] = 2 * y[id.x] + x[id.x]; }
}`

/** Counts the workgroups that run, their barriers crossed; an invocation returns between two of them. */
const countWorkgroups = `
@group(0) @binding(0) var<storage, read_write> total: atomic<u32>;
@group(0) @binding(1) var<storage, read_write> seen: array<u32>;
var<workgroup> sum: atomic<u32>;
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) n: vec3u) {
  atomicAdd(&sum, 1);
  workgroupBarrier();
  if (i > 0) { return; }
  atomicAdd(&total, atomicLoad(&sum));
  seen[id.x + n.x * (id.y + n.y * id.z)] = id.x + 10 * id.y + 100 * id.z + 1000;
}`

const endless = `
@group(0) @binding(0) var<storage, read_write> word: atomic<u32>;
@compute @workgroup_size(1)
fn main() { while (atomicLoad(&word) == 0u) { atomicMax(&word, 0u); } }`

function kernelSource(wgsl: string): KernelSource {
  const module = lower(parseWgsl(wgsl, { label: 'queue' }))
  return {
    label: 'queue',
    wgsl,
    entryPoint: module.entryPoint.name,
    constants: {},
    bounds: 'clamp',
    module,
    reflection: reflect(module),
  }
}

/** A queue on a device, with what it says. */
class OpenedQueue {
  readonly commands: DeviceCommands
  readonly messages: QueueMessage[] = []
  flushes = 0
  #serial = 0

  constructor(group: DeviceGroup, context: TestContext, timeoutSeconds?: number) {
    this.commands = this.#open(group, context, timeoutSeconds)
  }

  #open(group: DeviceGroup, context: TestContext, timeoutSeconds: number | undefined): DeviceCommands {
    try {
      return openDeviceCommands(group.devices[0]!, {
        label: 'queue',
        timeoutSeconds,
        onMessage: (message) => this.messages.push(message),
        flush: () => this.flushes++,
      })
    } catch (error) {
      if (!isGpuError(error, 'unsupported')) throw error
      context.skip(`the backend has no command queues: ${error.message}`)
    }
  }

  submit(commands: readonly (readonly number[])[], data = new Uint8Array(), needs: Promise<unknown>[] = []) {
    this.commands.submit(needs, ++this.#serial, Float64Array.from(commands.flat()), data)
    return this.#serial
  }

  write(buffer: number, values: Uint32Array<ArrayBuffer>) {
    const data = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
    this.submit([[commandWords.write, buffer, 0, 0, data.length]], data)
  }

  /** The words of a buffer, by way of host memory. */
  async read(buffer: number, length: number): Promise<Uint32Array<ArrayBuffer>> {
    const host = 1000 + buffer
    this.commands.createBuffer(host, length * 4, 'host')
    this.submit([[commandWords.copy, buffer, 0, host, 0, length * 4]])
    await this.commands.map(host, 0, length * 4)
    const words = new Uint32Array(this.commands.mappedRange(host, 0, length * 4)).slice()
    this.commands.unmap(host, false)
    this.commands.destroyBuffer(host)
    return words
  }
}

/** What `Runtime.openCommandQueue` owes. */
export function describeCommandQueues(suite: Suite): void {
  const withQueue = (
    name: string,
    body: (queue: OpenedQueue, group: DeviceGroup) => Promise<void>,
    timeoutSeconds?: number,
  ) =>
    suite.test(name, async ({ group }, context) => {
      const queue = new OpenedQueue(group, context, timeoutSeconds)
      try {
        await body(queue, group)
      } finally {
        await queue.commands.close()
      }
    })

  describe('command queues', () => {
    withQueue('run the commands of a list one after another', async (queue) => {
      const { commands } = queue
      await commands.compile(1, kernelSource(doubleAndAdd), 'direct')
      for (const buffer of [1, 2, 3]) commands.createBuffer(buffer, 1024, 'device')
      expectElements(await queue.read(2, 256), new Uint32Array(256))
      const x = Uint32Array.from({ length: 64 }, (_, i) => i)
      queue.write(1, x)
      queue.write(3, Uint32Array.of(64, 0, 0, 0))
      const bindings = [1, 0, 256, 2, 256, 512, 3, 0, 16]
      queue.submit(
        [
          [commandWords.dispatch, 1, 1, 1, 1, ...bindings],
          [commandWords.dispatch, 1, 2, 1, 1, ...bindings],
          [commandWords.copy, 2, 256, 2, 512, 128],
          [commandWords.clear, 2, 256, 8],
          [commandWords.write, 2, 264, 4, 4],
          [commandWords.dispatch, 1, 1, 1, 1, ...bindings],
        ],
        new Uint8Array(Uint32Array.of(1, 77).buffer),
      )
      const expected = new Uint32Array(256)
      for (let i = 0; i < 64; i++) expected[64 + i] = 3 * i
      expected.copyWithin(128, 64, 96)
      expected.set([0, 0, 77], 64)
      for (let i = 0; i < 64; i++) expected[64 + i] = 2 * expected[64 + i]! + i
      expectElements(await queue.read(2, 256), expected)
      expect(queue.messages).toEqual([])
    })

    withQueue('copy what a list holds and writes before the call returns', async (queue) => {
      queue.commands.createBuffer(1, 16, 'device')
      const words = Float64Array.of(commandWords.write, 1, 4, 0, 8)
      const data = new Uint8Array(Uint32Array.of(5, 6).buffer)
      queue.commands.submit([], 1, words, data)
      words.fill(0)
      data.fill(0)
      expectElements(await queue.read(1, 4), Uint32Array.of(0, 5, 6, 0))
    })

    withQueue('map host memory for reading and for writing', async (queue) => {
      const { commands } = queue
      commands.createBuffer(1, 65_536, 'host')
      commands.createBuffer(2, 65_536, 'device')
      await commands.map(1, 0, 65_536)
      const ranges = [
        [0, 32_768],
        [32_768, 8],
        [65_520, 16],
      ].map(([start, length]) => commands.mappedRange(1, start!, length!))
      for (const range of ranges) new Uint32Array(range).fill(range.byteLength)
      commands.unmap(1, true)
      expect(ranges.map(({ byteLength }) => byteLength)).toEqual([0, 0, 0])
      queue.submit([[commandWords.copy, 1, 0, 2, 0, 65_536]])
      const expected = new Uint32Array(16_384)
      expected.fill(32_768, 0, 8192).fill(8, 8192, 8194).fill(16, 16_380)
      expectElements(await queue.read(2, 16_384), expected)
      await commands.map(1, 0, 8)
      new Uint32Array(commands.mappedRange(1, 0, 8)).fill(1)
      commands.unmap(1, false)
      await commands.map(1, 8, 8)
      expectElements(new Uint32Array(commands.mappedRange(1, 8, 8)).slice(), Uint32Array.of(32_768, 32_768))
      commands.unmap(1, false)
    })

    withQueue('take the number of workgroups from a buffer', async (queue) => {
      const { commands } = queue
      await commands.compile(1, kernelSource(countWorkgroups), 'indirect')
      commands.createBuffer(1, 4, 'device')
      commands.createBuffer(2, 4096, 'device')
      commands.createBuffer(3, 64, 'device')
      for (const [counts, ran] of [
        [[3, 2, 4], 24],
        [[1, 1, 1], 1],
        [[0, 2, 3], 0],
        [[300, 1, 1], 300],
        [[301, 1, 1], 0],
        [[1, 4_000_000_000, 1], 0],
      ] as const) {
        queue.submit([
          [commandWords.clear, 1, 0, 4],
          [commandWords.clear, 2, 0, 4096],
        ])
        queue.write(3, Uint32Array.of(9, ...counts))
        queue.submit([[commandWords.dispatchIndirect, 1, 3, 4, 300, 1, 0, 4, 2, 0, 4096]])
        expect([...(await queue.read(1, 1))], counts.join()).toEqual([8 * ran])
        const seen = new Uint32Array(1024)
        if (ran > 0)
          for (let i = 0; i < ran; i++) {
            const [x, y] = counts
            seen[i] = (i % x) + 10 * (Math.floor(i / x) % y) + 100 * Math.floor(i / x / y) + 1000
          }
        expectElements(await queue.read(2, 1024), seen)
      }
    })

    withQueue('take turns with writes, runs and reads of the group', async (queue, group) => {
      const { commands } = queue
      const buffer = await group.devices[0]!.allocate('u32', 128)
      await commands.compile(1, kernelSource(doubleAndAdd), 'direct')
      const { byteOffset, byteLength } = commands.adopt(1, buffer.slice(64, 64))
      expect([byteOffset, byteLength]).toEqual([256, 256])
      commands.createBuffer(2, 256, 'device')
      commands.createBuffer(3, 16, 'device')
      queue.write(3, Uint32Array.of(64, 0, 0, 0))
      const step = () => queue.submit([[commandWords.dispatch, 1, 1, 1, 1, 1, 0, 256, 2, 0, 256, 3, 0, 16]])
      const program = group.record((recorder) => recorder.fill(buffer, 7))
      const later = new Promise((resolve) => setTimeout(resolve, 20))
      const before = queue.flushes
      const written = group.queue.write(buffer, new Uint32Array(128).fill(1))
      step()
      const read = group.queue.read(buffer.slice(0, 65))
      const ran = group.queue.run(program)
      step()
      queue.submit([[commandWords.clear, 1, 0, 4]], undefined, [later])
      const second = group.queue.read(buffer.slice(64, 2))
      step()
      const result = queue.read(2, 2)
      await Promise.all([written, ran])
      expectElements(await read, new Uint32Array(65).fill(1))
      expectElements(await second, Uint32Array.of(0, 7))
      expectElements(await result, Uint32Array.of(18, 25))
      expect(queue.flushes).toBeGreaterThanOrEqual(before + 4)
      commands.destroyBuffer(1)
      program.destroy()
      buffer.destroy()
    })

    withQueue('share their memory with programs, which keep it', async (queue, group) => {
      const { commands } = queue
      commands.createBuffer(1, 32, 'device')
      queue.write(1, Uint32Array.of(1, 2, 3, 4, 5, 6, 7, 8))
      const shared = await commands.share(1, 'u32', 32, 'shared')
      const target = await group.devices.at(-1)!.allocate('u32', 8)
      const program = group.record((recorder) => recorder.copy(shared, target))
      queue.submit([[commandWords.clear, 1, 0, 8]])
      commands.destroyBuffer(1)
      shared.destroy()
      await group.queue.run(program)
      expectElements(await group.queue.read(target), Uint32Array.of(0, 0, 3, 4, 5, 6, 7, 8))
      program.destroy()
      target.destroy()
    })

    withQueue('refuse views that no buffer can lie in', async ({ commands }, group) => {
      const buffer = await group.devices[0]!.allocate('u32', [64, 4])
      const refused = (view: typeof buffer | ReturnType<typeof buffer.slice>, ...parts: string[]) =>
        expectGpuError(() => commands.adopt(9, view), 'validation', ...parts)
      await refused(buffer.slice(1, 8), 'from byte 4')
      await refused(buffer.block(0, 0, 2, 2), 'leading dimension 4')
      await refused(buffer.slice(0, 0), '0 bytes')
      if (group.devices.length > 1) {
        const other = await group.devices[1]!.allocate('u32', 4)
        await refused(other, 'is on device 1, not on device 0')
        other.destroy()
      }
      buffer.destroy()
      await refused(buffer, 'is destroyed')
    })

    withQueue('skip commands that name a buffer for which there is no memory', async (queue) => {
      const { commands } = queue
      commands.createBuffer(1, 16, 'device')
      commands.createBuffer(2, 2 ** 50, 'device')
      const data = new Uint8Array(Uint32Array.of(1, 2).buffer)
      const serial = queue.submit(
        [
          [commandWords.write, 1, 0, 0, 8],
          [commandWords.write, 2, 0, 0, 8],
          [commandWords.copy, 2, 0, 1, 0, 16],
          [commandWords.clear, 1, 0, 4],
        ],
        data,
      )
      await commands.settled()
      expect(queue.messages.map(({ kind }) => kind)).toEqual(['out-of-memory', 'skipped'])
      expect(queue.messages).toEqual([
        { kind: 'out-of-memory', buffer: 2, message: expect.stringMatching(/\.$/) },
        { kind: 'skipped', serial, buffer: 2 },
      ])
      expectElements(await queue.read(1, 4), Uint32Array.of(0, 2, 0, 0))
      await expectGpuError(() => commands.share(2, 'u32', 16, 'none'), 'out-of-memory')
      commands.destroyBuffer(2)
    })

    withQueue('write the time of the device', async (queue) => {
      const { commands } = queue
      commands.createBuffer(1, 32, 'device')
      queue.submit([[commandWords.timestamp, 1, 8]])
      await commands.fence()
      await new Promise((resolve) => setTimeout(resolve, 20))
      queue.submit([[commandWords.timestamp, 1, 16]])
      const times = new BigUint64Array((await queue.read(1, 8)).buffer)
      expect([times[0], times[3]]).toEqual([0n, 0n])
      const elapsed = Number(times[2]! - times[1]!)
      expect(elapsed).toBeGreaterThan(10e6)
      expect(elapsed).toBeLessThan(60e9)
    })

    suite.test('are lost without their group if a submit takes too long', async ({ group }, context) => {
      const queue = new OpenedQueue(group, context, 0.2)
      const other = new OpenedQueue(group, context)
      await queue.commands.compile(1, kernelSource(endless), 'direct')
      queue.commands.createBuffer(1, 4, 'device')
      queue.submit([[commandWords.dispatch, 1, 1, 1, 1, 1, 0, 4]])
      await expectGpuError(() => queue.commands.fence(), 'timeout', '0.2 s')
      expect(queue.messages.map(({ kind }) => kind)).toEqual(['lost'])
      expect((queue.messages[0] as { error: GpuError }).error.code).toBe('timeout')
      queue.submit([[commandWords.clear, 1, 0, 4]])
      await expectGpuError(() => queue.commands.map(1, 0, 4), 'timeout')
      other.commands.createBuffer(1, 4, 'device')
      other.write(1, Uint32Array.of(3))
      expectElements(await other.read(1, 1), Uint32Array.of(3))
      const buffer = await group.devices[0]!.allocate('u32', 1)
      await group.queue.write(buffer, Uint32Array.of(4))
      expectElements(await group.queue.read(buffer), Uint32Array.of(4))
      buffer.destroy()
      await Promise.all([queue.commands.close(), other.commands.close()])
    })

    suite.test('end with their group', async (rank, context) => {
      const group = await rank.open()
      const queue = new OpenedQueue(group, context)
      queue.commands.createBuffer(1, 4, 'device')
      await group.destroy()
      queue.write(1, Uint32Array.of(3))
      await expectGpuError(() => queue.commands.fence(), 'device-lost')
      expect(queue.messages.map(({ kind }) => kind)).toEqual(['lost'])
      await queue.commands.close()
    })
  })
}
