import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { Backend } from '../../backend.ts'
import { type GpuErrorCode, isGpuError } from '../../errors.ts'
import { type DeviceGroup, type OpenGroupOptions, openGroup } from '../../group.ts'

/** One open group that the tests of a suite share. After each test no buffer and no program may be left. */
export class Suite {
  readonly backend: () => Backend
  readonly devices: number
  #group: DeviceGroup | undefined
  #absence: string | undefined
  #used: { destroy(): void }[] = []

  constructor(backend: () => Backend, devices: number) {
    this.backend = backend
    this.devices = devices
  }

  get group(): DeviceGroup {
    return this.#group!
  }

  /** Declares the hooks; call it inside `describe`. */
  install(): void {
    beforeAll(async () => {
      const backend = this.backend()
      const { adapters, absence } = await backend.adapters()
      if (adapters.length === 0) this.#absence = `${backend.name} has no adapter: ${absence!.reason}`
      else this.#group = await this.open(backend)
    })
    beforeEach((context) => {
      if (this.#absence !== undefined) context.skip(this.#absence)
    })
    afterEach(() => {
      for (const resource of this.#used) resource.destroy()
      this.#used = []
      if (this.#group === undefined) return
      const { allocations, hostAllocations, executables } = this.#group.live()
      expect({ allocations, hostAllocations, executables }).toEqual({
        allocations: 0,
        hostAllocations: 0,
        executables: 0,
      })
    })
    afterAll(async () => {
      if (this.#group === undefined) return
      expect(await this.#group.destroy()).toEqual({ leaks: [] })
      expect(this.#group.live()).toEqual({ allocations: 0, hostAllocations: 0, kernels: 0, executables: 0 })
    })
  }

  /** A group of its own, for tests that destroy or restrict it. */
  open(backend = this.backend(), options: Partial<OpenGroupOptions> = {}): Promise<DeviceGroup> {
    return openGroup({
      backends: [backend],
      devices: this.devices,
      virtual: true,
      label: 'conformance',
      ...options,
    })
  }

  /** Destroys the resource after the test. */
  use<R extends { destroy(): void }>(resource: R): R {
    this.#used.push(resource)
    return resource
  }
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
