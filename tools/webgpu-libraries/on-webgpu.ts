import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { installWebGpu } from './backend.ts'

/**
 * Installs `navigator.gpu` for the tests of a file, before `load` imports the library. Each test must
 * dispatch work, and must not cause an error that the library does not handle.
 */
export function onWebGpu(load: () => Promise<unknown>): void {
  const uncaptured: string[] = []
  let dispatches = 0
  let close: () => Promise<void>

  beforeAll(async () => {
    close = await installWebGpu()
    const { requestDevice } = GPUAdapter.prototype
    GPUAdapter.prototype.requestDevice = async function (descriptor) {
      const device = await requestDevice.call(this, descriptor)
      device.addEventListener('uncapturederror', (event) => uncaptured.push(event.error.message))
      return device
    }
    for (const name of ['dispatchWorkgroups', 'dispatchWorkgroupsIndirect'] as const) {
      const dispatch = GPUComputePassEncoder.prototype[name] as (...values: unknown[]) => undefined
      GPUComputePassEncoder.prototype[name] = function (this: GPUComputePassEncoder, ...values: unknown[]) {
        dispatches++
        return dispatch.apply(this, values)
      }
    }
    await load()
  })
  beforeEach(() => {
    dispatches = 0
  })
  afterEach(() => {
    expect(dispatches, 'dispatches of the test').toBeGreaterThan(0)
    expect(uncaptured.splice(0)).toEqual([])
  })
  afterAll(async () => {
    await close()
    expect(uncaptured).toEqual([])
  })
}
