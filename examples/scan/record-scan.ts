import type { ShardedMatrix } from '@tandem-gpu/algorithms'
import {
  type BufferView,
  compileAll,
  type DeviceGroup,
  dispatchBlocks,
  type Kernel,
  type Recorder,
} from '@tandem-gpu/core'
import * as serial from './scan-serial.wgsl.ts'
import * as workgroup from './scan-workgroup.wgsl.ts'

/** Elements that one workgroup or one invocation scans; device slices start at multiples of it. */
export const blockLength = 256

export interface ScanKernels {
  readonly sum: Kernel
  readonly scan: Kernel
  readonly blocksPerWorkgroup: number
  destroy(): void
}

/** Both variants give the same bits. */
export async function compileScan(
  group: DeviceGroup,
  variant: 'serial' | 'workgroup' = group.software ? 'serial' : 'workgroup',
): Promise<ScanKernels> {
  const { sum_blocks, scan_blocks } = variant === 'serial' ? serial : workgroup
  const { kernels, destroy } = await compileAll(group, { sum: sum_blocks, scan: scan_blocks })
  return { ...kernels, blocksPerWorkgroup: variant === 'serial' ? 64 : 1, destroy }
}

/**
 * Records `output[i] = input[0] + … + input[i]` modulo 2^32, over slices on any devices: each device sums its blocks, the first one scans the
 * sums, and each device scans its blocks from there (Dotsenko et al., Fast scan algorithms on graphics processors, ICS 2008).
 */
export function recordScan(
  recorder: Recorder,
  kernels: ScanKernels,
  input: ShardedMatrix<'u32'>,
  output: ShardedMatrix<'u32'>,
): void {
  const parts = input.slices.flatMap(({ device, rows, view }, index) =>
    rows === 0
      ? []
      : [{ device, blocks: Math.ceil(rows / blockLength), source: view.reshape(1, rows), index }],
  )
  if (parts.length === 0) return
  const home = parts[0]!.device
  const total = parts.reduce((sum, { blocks }) => sum + blocks, 0)
  const sums = recorder.scratch(home, 'u32', total, { label: 'sums' })
  const offsets = recorder.scratch(home, 'u32', total, { label: 'offsets' })
  let first = 0
  for (const { device, blocks, source } of parts) {
    const local = recorder.scratch(device, 'u32', blocks, { label: 'local sums' })
    recordSums(recorder, kernels, source, local)
    recorder.copy(local, sums.slice(first, blocks), { label: 'gather sums' })
    first += blocks
  }
  recordOnDevice(recorder, kernels, sums, offsets)
  first = 0
  for (const { device, blocks, source, index } of parts) {
    const local = recorder.scratch(device, 'u32', blocks, { label: 'local offsets' })
    recorder.copy(offsets.slice(first, blocks), local, { label: 'spread offsets' })
    const target = output.slices[index]!.view.reshape(1, source.length)
    recordBlocks(recorder, kernels, source, local, target, true)
    first += blocks
  }
}

/** An exclusive scan on one device, over as many levels as it takes. */
function recordOnDevice(
  recorder: Recorder,
  kernels: ScanKernels,
  source: BufferView<'u32'>,
  target: BufferView<'u32'>,
): void {
  const { device } = source.buffer
  const blocks = Math.ceil(source.length / blockLength)
  const offsets = recorder.scratch(device, 'u32', blocks, { label: 'level offsets', zero: true })
  if (blocks > 1) {
    const sums = recorder.scratch(device, 'u32', blocks, { label: 'level sums' })
    recordSums(recorder, kernels, source, sums)
    recordOnDevice(recorder, kernels, sums, offsets)
  }
  recordBlocks(recorder, kernels, source, offsets, target, false)
}

function recordSums(
  recorder: Recorder,
  { sum, blocksPerWorkgroup }: ScanKernels,
  source: BufferView,
  sums: BufferView,
): void {
  dispatchBlocks(recorder, sum, {
    blocks: sums.length,
    blocksPerWorkgroup,
    blocked: { source: { view: source, blockLength }, sums: { view: sums, blockLength: 1 } },
  })
}

function recordBlocks(
  recorder: Recorder,
  { scan, blocksPerWorkgroup }: ScanKernels,
  source: BufferView,
  offsets: BufferView,
  target: BufferView,
  inclusive: boolean,
): void {
  dispatchBlocks(recorder, scan, {
    blocks: offsets.length,
    blocksPerWorkgroup,
    blocked: {
      source: { view: source, blockLength },
      offsets: { view: offsets, blockLength: 1 },
      result: { view: target, blockLength },
    },
    args: { inclusive: inclusive ? 1 : 0 },
  })
}
