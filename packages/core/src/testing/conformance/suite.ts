import { afterAll, afterEach, beforeAll, beforeEach, expect, type TestContext, test } from 'vitest'
import type { Backend } from '../../backend/backend.ts'
import type { ElementArray } from '../../buffers/element-type.ts'
import { type GpuErrorCode, isGpuError } from '../../errors.ts'
import { type DeviceGroup, type OpenGroupOptions, openGroup } from '../../group/group.ts'

/** What a test gets: one process's side of a group that the tests of a suite share. */
export class SuiteRank {
  readonly group: DeviceGroup
  readonly #backend: Backend
  readonly #devices: number
  #used: { destroy(): void }[] = []

  constructor(group: DeviceGroup, backend: Backend, devices: number) {
    this.group = group
    this.#backend = backend
    this.#devices = devices
  }

  static async open(backend: Backend, devices: number): Promise<SuiteRank> {
    return new SuiteRank(await openSuiteGroup(backend, devices, {}), backend, devices)
  }

  /** A group of its own, for tests that destroy or restrict it. */
  open(options: Partial<OpenGroupOptions> = {}): Promise<DeviceGroup> {
    return openSuiteGroup(this.#backend, this.#devices, options)
  }

  /** Destroys the resource after the test. */
  use<R extends { destroy(): void }>(resource: R): R {
    this.#used.push(resource)
    return resource
  }

  destroyUsed(): void {
    for (const resource of this.#used) resource.destroy()
    this.#used = []
  }
}

function openSuiteGroup(
  backend: Backend,
  devices: number,
  options: Partial<OpenGroupOptions>,
): Promise<DeviceGroup> {
  return openGroup({ backends: [backend], devices, virtual: true, label: 'conformance', ...options })
}

type Body = (rank: SuiteRank, context: TestContext) => Promise<void>

/**
 * Tests that run in every process of a group: in one, or at once in each of several that are simulated here.
 * After each test no buffer and no program may be left.
 */
export class Suite {
  readonly #backends: () => readonly Backend[]
  readonly #devices: number
  #ranks: readonly SuiteRank[] = []
  #absence: string | undefined

  constructor(backends: () => readonly Backend[], devices: number) {
    this.#backends = backends
    this.#devices = devices
  }

  test(name: string, body: Body): void {
    test(name, (context) => this.#run(body, context))
  }

  each<V>(values: readonly V[], name: string, body: (rank: SuiteRank, value: V) => Promise<void>): void {
    for (const value of values)
      test(name.replace('%s', String(value)), (context) => this.#run((rank) => body(rank, value), context))
  }

  async #run(body: Body, context: TestContext): Promise<void> {
    await Promise.all(this.#ranks.map((rank) => body(rank, context)))
  }

  /** Declares the hooks; call it inside `describe`. */
  install(): void {
    beforeAll(async () => {
      const backends = this.#backends()
      const reports = await Promise.all(backends.map((backend) => backend.adapters()))
      const { adapters, absence } = reports[0]!
      if (adapters.length === 0) this.#absence = `${backends[0]!.name} has no adapter: ${absence!.reason}`
      else this.#ranks = await Promise.all(backends.map((backend) => SuiteRank.open(backend, this.#devices)))
    })
    beforeEach((context) => {
      if (this.#absence !== undefined) context.skip(this.#absence)
    })
    afterEach(() => {
      for (const rank of this.#ranks) rank.destroyUsed()
      for (const { group } of this.#ranks) {
        const { allocations, hostAllocations, executables } = group.live()
        expect({ allocations, hostAllocations, executables }).toEqual({
          allocations: 0,
          hostAllocations: 0,
          executables: 0,
        })
      }
    })
    afterAll(async () => {
      const reports = await Promise.all(this.#ranks.map(({ group }) => group.destroy()))
      for (const report of reports) expect(report).toEqual({ leaks: [] })
      for (const { group } of this.#ranks)
        expect(group.live()).toEqual({ allocations: 0, hostAllocations: 0, kernels: 0, executables: 0 })
    })
  }
}

/**
 * Expects these elements, in an array of the same type. vitest by itself takes more than a microsecond
 * for each element, and minutes if many differ.
 */
export function expectElements(actual: ElementArray | undefined, expected: ElementArray): void {
  expect([actual?.constructor, actual?.length]).toEqual([expected.constructor, expected.length])
  if (equalBytes(bytesOf(actual!), bytesOf(expected))) return
  for (let i = 0; i < expected.length; i++)
    if (!Object.is(actual![i], expected[i]))
      expect.fail(`element ${i} of ${expected.length} is ${actual![i]}, not ${expected[i]}`)
}

function bytesOf({ buffer, byteOffset, byteLength }: ElementArray): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** A loop over arrays of one type is far faster than one over arrays of any. */
function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < b.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Expects a GpuError of the code, from a throw or a rejection, whose sentence has all the parts. */
export async function expectGpuError(
  action: () => unknown,
  code: GpuErrorCode,
  ...parts: readonly (string | number)[]
): Promise<void> {
  let caught: unknown
  try {
    await action()
  } catch (error) {
    caught = error
  }
  if (!isGpuError(caught)) expect.fail(`expected a GpuError "${code}", got ${String(caught)}`)
  expect(caught.code, caught.message).toBe(code)
  for (const part of parts) expect(caught.message).toContain(String(part))
}
