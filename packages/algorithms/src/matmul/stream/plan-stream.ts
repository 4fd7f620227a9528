import { bindableByteLength, type Device, GpuError, requireCount } from '@tandem-gpu/core'
import { splitRows } from '../../sharded-matrix.ts'
import type { MatmulShape } from '../matmul-shape.ts'
import { splitPartsByteLength } from '../tensor/split-kernels.ts'

/** How a product larger than device memory is divided. All sizes are in elements. */
export interface StreamPlan {
  /** Columns of B in one panel. */
  readonly width: number
  /** Rows of A (and C) that a device holds at a time. */
  readonly rowBlock: number
  /** Leading dimension of A on the device. */
  readonly aStride: number
  /** Leading dimension of a panel of B and of a tile of C on the device. */
  readonly bStride: number
  /** 2: the next panel is uploaded while the current one is used. 1: the memory is too small for that. */
  readonly panelBuffers: 1 | 2
  readonly aBuffers: 1 | 2
  readonly panels: number
  /** How often a device needs all panels: once for each block of rows of the largest chunk. */
  readonly rounds: number
  /** The device memory that the plan needs on the device with the most rows. */
  readonly byteLength: number
}

/**
 * Fits a streamed product into `memoryLimitBytes` on each device: the panel of `streamWidth` columns and the
 * block of rows shrink until A's block, the panels of B and the tiles of C fit. The two stay about equal,
 * which minimizes the bytes transferred. If that is not enough, the plan drops double buffering, then
 * padding. Throws `too-large` if even one row and one column do not fit.
 */
export function planStream(
  shape: MatmulShape,
  devices: readonly Device[],
  options: {
    readonly streamWidth: number
    readonly memoryLimitBytes: number
    /**
     * The number of parts into which the sum over k is divided; default 1. If there are several, each
     * temporarily has a tile of C.
     */
    readonly parts?: number
  },
): StreamPlan {
  const { m, n, k } = shape
  const { streamWidth, memoryLimitBytes, parts = 1 } = options
  requireCount(streamWidth, 'The option streamWidth', 1)
  if (!(memoryLimitBytes > 0))
    throw new GpuError(
      'validation',
      `The memory limit is ${memoryLimitBytes} bytes per device; it must be above 0.`,
    )
  const largest = Math.min(
    ...devices.map((device) => Math.min(bindableByteLength(device), device.limits.maxBufferByteLength)),
  )
  const chunk = Math.max(1, splitRows(m, devices.length)[0]!.rows)
  const inner = Math.max(1, k)
  const outer = Math.max(1, n)
  const limit = memoryLimitBytes / 4
  const single = largest / 4
  for (const { grain, panelBuffers } of [
    { grain: 4, panelBuffers: 2 },
    { grain: 4, panelBuffers: 1 },
    { grain: 1, panelBuffers: 1 },
  ] as const) {
    const up = (value: number) => Math.ceil(value / grain) * grain
    const aStride = up(inner)
    for (
      let width = Math.min(up(streamWidth), up(outer));
      width >= grain;
      width = up(Math.floor(width / 2))
    ) {
      const panel = panelBuffers * inner * width
      // Tiles of C, and of the sums of the parts of k.
      const tiles = panelBuffers + (parts > 1 ? parts : 0)
      const fit = (aBuffers: 1 | 2) =>
        Math.min(
          chunk,
          Math.floor((limit - panel) / (aBuffers * aStride + tiles * width)),
          Math.floor(single / Math.max(aStride, parts * width)),
        )
      const whole = fit(1) >= chunk
      const aBuffers = whole || panelBuffers === 1 ? 1 : 2
      const rowBlock = whole ? chunk : fit(aBuffers)
      const enough = width <= grain ? 1 : Math.min(chunk, width)
      if (rowBlock >= enough && inner * width <= single)
        return {
          width,
          rowBlock,
          aStride,
          bStride: width,
          panelBuffers,
          aBuffers,
          panels: Math.ceil(outer / width),
          rounds: Math.ceil(chunk / rowBlock),
          byteLength: 4 * (panel + rowBlock * (aBuffers * aStride + tiles * width)),
        }
      if (width === grain) break
    }
  }
  const least = 4 * (2 * inner + 1 + (parts > 1 ? parts : 0))
  throw new GpuError(
    'too-large',
    `A memory limit of ${memoryLimitBytes} bytes per device has no room for one row of A and one column of B: with k = ${k} they and their product need ${least} bytes${
      single < inner ? `, and one buffer holds at most ${largest} bytes` : ''
    }.`,
  )
}

/**
 * The plan with additional memory for the transpose of every block of rows of A; undefined if that exceeds
 * `memoryLimitBytes`.
 */
export function withTransposedRows(
  plan: StreamPlan,
  k: number,
  memoryLimitBytes: number,
): StreamPlan | undefined {
  const byteLength = plan.byteLength + 4 * plan.aBuffers * k * Math.ceil(plan.rowBlock / 4) * 4
  return byteLength <= memoryLimitBytes ? { ...plan, byteLength } : undefined
}

/**
 * The plan with memory for the f16 parts of every block of rows of A and every panel of B; undefined if that
 * exceeds `memoryLimitBytes`.
 */
export function withSplitParts(
  plan: StreamPlan,
  k: number,
  memoryLimitBytes: number,
): StreamPlan | undefined {
  const { rows, columns } = splitPartsByteLength(plan.rowBlock, plan.bStride, k)
  const byteLength = plan.byteLength + plan.aBuffers * rows + plan.panelBuffers * columns
  return byteLength <= memoryLimitBytes ? { ...plan, byteLength } : undefined
}
