import { type BufferView, blocked, dispatchBlocks, type Kernel, type Recorder } from '@tandem-gpu/core'

/** Records that every element of the views, which may lie on any devices, is moved into [low, high]. */
export function recordClip(
  recorder: Recorder,
  kernel: Kernel,
  views: readonly BufferView<'f32'>[],
  low: number,
  high: number,
): void {
  for (const view of views)
    dispatchBlocks(recorder, kernel, {
      blocks: view.length,
      blocksPerWorkgroup: 64,
      args: { x: blocked(view, 1), low, high },
    })
}
