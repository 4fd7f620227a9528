import type { BufferView, DispatchArgument, Recorder } from '@tandem-gpu/core'
import { type GatherKernel, gatherSenders } from './transpose-kernels.ts'

/** One sender's block of a gathering dispatch. */
export interface GatheredBlock {
  readonly sender: number
  /** The block as it lies in the sender's slice: `rows` × `output.rows`. */
  readonly source: BufferView
  /** Column of the receiver's slice where the transposed block starts. */
  readonly column: number
}

/** Elements that one binding may span on `device`: 32-bit indices reach them, and a bound range may start 256 bytes early. */
export function bindingReach(recorder: Recorder, device: number): number {
  const { maxStorageBindingByteLength } = recorder.devices[device]!.limits
  return Math.floor(Math.min(maxStorageBindingByteLength, 8_589_934_592) / 4) - 64
}

/**
 * Records the transposes of `blocks` into `output`, the receiver's slice, in one dispatch; in several of about as many senders each where
 * there are more senders than a dispatch binds. `blocks` are in order of their columns. False, and nothing recorded, where a block or the
 * output exceeds what the receiver binds.
 */
export function recordGather(
  recorder: Recorder,
  { kernel, tile }: GatherKernel,
  receiver: number,
  blocks: readonly GatheredBlock[],
  output: BufferView,
): boolean {
  const reach = bindingReach(recorder, receiver)
  const span = (view: BufferView) => (view.rows - 1) * view.stride + view.columns
  if (span(output) > reach || blocks.some(({ source }) => span(source) > reach)) return false
  const grid = recorder.devices[receiver]!.limits.maxWorkgroupsPerDimension
  if (tilesOf(blocks) > Math.min(grid, 32_768) * grid) return false
  const dispatches = Math.ceil(blocks.length / gatherSenders)
  const share = Math.ceil(blocks.length / dispatches)
  const parts = Array.from({ length: dispatches }, (_, i) => blocks.slice(i * share, (i + 1) * share))
  // Its own part first, so that every sender serves as many receivers as every other at any time.
  const own = Math.max(
    0,
    parts.findIndex((part) => part.some(({ sender }) => sender === receiver)),
  )
  for (let turn = 0; turn < parts.length; turn++)
    dispatchGather(
      parts[(own + turn) % parts.length]!,
      `gather ${receiver}${dispatches > 1 ? `.${turn}` : ''}`,
    )
  return true

  function dispatchGather(part: readonly GatheredBlock[], label: string): void {
    const start = part[0]!.column
    const last = part.at(-1)!
    const args: Record<string, DispatchArgument> = {
      // From the first block's columns to the last's: other dispatches write beside them.
      output: output.block(0, start, output.rows, last.column + last.source.rows - start),
      senders: part.length,
      first: receiver % part.length,
    }
    for (let slot = 0; slot < gatherSenders; slot++) {
      const block = part[slot] ?? part[0]!
      args[`input${slot}`] = block.source
      args[`start${slot}`] = block.column - start
    }
    const tiles = tilesOf(part)
    const width = Math.min(tiles, 32_768, grid)
    recorder.dispatch(kernel, {
      device: receiver,
      workgroups: [width, Math.ceil(tiles / width)],
      args,
      label,
    })
  }

  /** Each sender has as many workgroups as the tallest block needs. */
  function tilesOf(part: readonly GatheredBlock[]): number {
    const height = Math.max(...part.map(({ source }) => source.rows))
    return Math.ceil(output.rows / tile[0]) * Math.ceil(height / tile[1]) * part.length
  }
}
