import type { ShardedMatrix } from '@tandem-gpu/algorithms'
import {
  type BufferView,
  blocked,
  compileAll,
  type DeviceGroup,
  dispatchBlocks,
  type Recorder,
} from '@tandem-gpu/core'
import * as serial from './scan-serial.wgsl.ts'
import * as workgroup from './scan-workgroup.wgsl.ts'

/** Elements that one workgroup or one invocation scans; device slices start at multiples of it. */
export const blockLength = 256

export type ScanKernels = Awaited<ReturnType<typeof compileScan>>

/** Both variants produce the same bits. */
export async function compileScan(
  group: DeviceGroup,
  variant: 'serial' | 'workgroup' = group.software ? 'serial' : 'workgroup',
) {
  const { sum_blocks, scan_blocks } = variant === 'serial' ? serial : workgroup
  const { kernels, destroy } = await compileAll(group, { sum: sum_blocks, scan: scan_blocks })
  return { ...kernels, blocksPerWorkgroup: variant === 'serial' ? 64 : 1, destroy }
}

/** Records `output[i] = input[0] + … + input[i]` modulo 2^32, over slices on any devices. */
export function recordScan(
  recorder: Recorder,
  kernels: ScanKernels,
  input: ShardedMatrix<'u32'>,
  output: ShardedMatrix<'u32'>,
): void {
  const vectors = ({ slices }: ShardedMatrix<'u32'>) =>
    slices.filter(({ rows }) => rows > 0).map(({ rows, view }) => view.reshape(1, rows))
  recordStages(recorder, kernels, vectors(input), vectors(output), true)
}

/**
 * Each device sums its blocks, the first one scans the sums, and each device scans its blocks from there
 * (Dotsenko et al., Fast scan algorithms on graphics processors, ICS 2008).
 */
function recordStages(
  recorder: Recorder,
  kernels: ScanKernels,
  sources: readonly BufferView<'u32'>[],
  targets: readonly BufferView<'u32'>[],
  inclusive: boolean,
): void {
  const { sum, scan, blocksPerWorkgroup } = kernels
  let total = 0
  const parts = sources.map((source, index) => {
    const blocks = Math.ceil(source.length / blockLength)
    total += blocks
    return { source, target: targets[index]!, blocks, first: total - blocks, device: source.buffer.device }
  })
  if (parts.length === 0) return
  const home = parts[0]!.device
  // The sum of everything before each block; 0 if there is only one block.
  const offsets = recorder.scratch(home, 'u32', total, { label: 'offsets', zero: true })
  if (total > 1) {
    const sums = recorder.scratch(home, 'u32', total, { label: 'sums' })
    for (const { source, blocks, first, device } of parts) {
      const place = sums.slice(first, blocks)
      const local = device === home ? place : recorder.scratch(device, 'u32', blocks)
      const args = { source: blocked(source, blockLength), sums: blocked(local, 1) }
      dispatchBlocks(recorder, sum, { blocks, blocksPerWorkgroup, args })
      if (local !== place) recorder.copy(local, place, { label: 'gather sums' })
    }
    recordStages(recorder, kernels, [sums], [offsets], false)
  }
  for (const { source, target, blocks, first, device } of parts) {
    const place = offsets.slice(first, blocks)
    const local = device === home ? place : recorder.scratch(device, 'u32', blocks)
    if (local !== place) recorder.copy(place, local, { label: 'spread offsets' })
    const args = {
      source: blocked(source, blockLength),
      offsets: blocked(local, 1),
      result: blocked(target, blockLength),
      inclusive: inclusive ? 1 : 0,
    }
    dispatchBlocks(recorder, scan, { blocks, blocksPerWorkgroup, args })
  }
}
