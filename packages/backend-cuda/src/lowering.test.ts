import { expect, it } from 'vitest'
import type { CudaHostAllocation } from './host-memory.ts'
import { choosePlanLowering } from './lowering.ts'
import { plan, region } from './testing/plan-text.ts'

const onDevice = (device: number) => ({ device, byteLength: 64, gpu: device, address: 0 })
const onHost = { arrayBuffer: new ArrayBuffer(64), address: 0 } as unknown as CudaHostAllocation
const links = { gpuOf: (device: number) => device, reachable: () => true, isSwitched: () => true }
const copy = (device: number) => ({
  kind: 'copy' as const,
  device,
  source: region(0, 0, 64),
  target: region(1, 0, 64),
  after: [],
  afterPrevious: [],
})

it('orders short copies between GPUs by kernels that signal and wait', () => {
  const program = plan([onDevice(0), onDevice(1)], [copy(0), copy(1)])
  expect(choosePlanLowering(program, 'auto', links).lowering).toBe('graph-per-gpu')
})

it.each(['auto', 'graph-per-gpu'] as const)(
  'leaves a program that copies from host memory to host memory to the driver, even if %s is requested',
  (wanted) => {
    const program = plan([onHost, onHost], [copy(0), copy(1)])
    expect(choosePlanLowering(program, wanted, links).lowering).toBe('one-graph')
  },
)
