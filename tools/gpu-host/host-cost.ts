import { allocateSharded, compileTranspose, recordTranspose } from '@tandem-gpu/algorithms'
import { type Backend, openGroup } from '@tandem-gpu/core'

/** What the host adds, in seconds. */
export interface HostCost {
  readonly devices: number
  /** `openGroup`, the second time in this process and so with the driver awake. */
  readonly openSeconds: number
  /** Recording a transpose of 8192² over all devices; the median of 20. */
  readonly recordSeconds: number
  /** One call of `run(program, 1000)`, by the host's clock and by the device's. */
  readonly runHostSeconds: number
  readonly runDeviceSeconds: number
}

/** Measures what the host costs beside the devices' own time. */
export async function recordingSeconds(backend: Backend, devices: number): Promise<HostCost> {
  await (await openGroup({ backends: [backend], devices })).destroy()
  const start = performance.now()
  const group = await openGroup({ backends: [backend], devices })
  const openSeconds = (performance.now() - start) / 1000
  const kernel = await compileTranspose(group, 'f32')
  const input = await allocateSharded(group, 'f32', 8192, 8192)
  const output = await allocateSharded(group, 'f32', 8192, 8192)
  const record = () => group.record((r) => void recordTranspose(r, group, { kernel, input, output }))
  const times = Array.from({ length: 20 }, () => {
    const from = performance.now()
    record().destroy()
    return (performance.now() - from) / 1000
  }).sort((a, b) => a - b)
  const program = record()
  await group.queue.run(program, 1000)
  const from = performance.now()
  const { seconds } = await group.queue.run(program, 1000)
  const runHostSeconds = (performance.now() - from) / 1000
  program.destroy()
  for (const resource of [kernel, input, output]) resource.destroy()
  await group.destroy()
  return { devices, openSeconds, recordSeconds: times[10]!, runHostSeconds, runDeviceSeconds: seconds }
}
