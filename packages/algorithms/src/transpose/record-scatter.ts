import {
  type BufferView,
  bindableByteLength,
  type DispatchArgument,
  foldWorkgroups,
  type Recorder,
} from '@tandem-gpu/core'
import type { ScatterKernel } from './transpose-kernels.ts'

/** One receiver's block of a scattering dispatch. */
export interface ScatteredBlock {
  readonly receiver: number
  /** The column of the sender's slice at which the block starts; it is `target.rows` wide. */
  readonly column: number
  /** The transposed block in the receiver's slice: its columns are the rows of the sender's slice. */
  readonly target: BufferView
}

/**
 * Records the transposes of `blocks` of `input`, the sender's slice, into the receivers' slices in one
 * dispatch, or, if one cannot bind all, in several with about equally many receivers. `blocks` are in order
 * of their columns. Returns false, and records nothing, if the input or a target exceeds what the sender can
 * bind, or if targets share a buffer, whose ranges one dispatch could not bind separately.
 */
export function recordScatter(
  recorder: Recorder,
  { kernel, tile, outputs }: ScatterKernel,
  sender: number,
  input: BufferView,
  blocks: readonly ScatteredBlock[],
): boolean {
  const device = recorder.devices[sender]!
  const reach = bindableByteLength(device) / 4
  const span = (view: BufferView) => (view.rows - 1) * view.stride + view.columns
  if (span(input) > reach || blocks.some(({ target }) => span(target) > reach)) return false
  if (new Set(blocks.map(({ target }) => target.buffer)).size < blocks.length) return false
  if (tilesOf(blocks) > device.limits.maxWorkgroupsPerDimension ** 2) return false
  const dispatches = Math.ceil(blocks.length / outputs)
  const share = Math.ceil(blocks.length / dispatches)
  const parts = Array.from({ length: dispatches }, (_, i) => blocks.slice(i * share, (i + 1) * share))
  // Each sender begins with the part that contains itself, so that equally many senders write to each
  // receiver at any time.
  const own = Math.max(
    0,
    parts.findIndex((part) => part.some(({ receiver }) => receiver === sender)),
  )
  for (let turn = 0; turn < parts.length; turn++)
    dispatchScatter(
      parts[(own + turn) % parts.length]!,
      `scatter ${sender}${dispatches > 1 ? `.${turn}` : ''}`,
    )
  return true

  function dispatchScatter(part: readonly ScatteredBlock[], label: string): void {
    const start = part[0]!.column
    const last = part.at(-1)!
    const args: Record<string, DispatchArgument> = {
      input: input.block(0, start, input.rows, last.column + last.target.rows - start),
      outputs: part.length,
      turn: sender % part.length,
    }
    for (let k = 0; k < outputs; k++) {
      const block = part[k]
      // Every binding needs a buffer, and no two bindings may overlap.
      args[`output${k}`] =
        block?.target ?? recorder.scratch(sender, input.buffer.type, 1, { label: `unused ${label}.${k}` })
      args[`first${k}`] = block === undefined ? 0 : block.column - start
    }
    recorder.dispatch(kernel, {
      device: sender,
      workgroups: foldWorkgroups(tilesOf(part), device),
      args,
      label,
    })
  }

  /** Each receiver gets as many workgroups as the widest block needs. */
  function tilesOf(part: readonly ScatteredBlock[]): number {
    const width = Math.max(...part.map(({ target }) => target.rows))
    return Math.ceil(width / tile[0]) * Math.ceil(input.rows / tile[1]) * part.length
  }
}
