import type { HostBuffer, HostView, Recorder } from '@tandem-gpu/core'
import type { MatmulType } from '../matmul/matmul-shape.ts'
import type { MatmulKernels } from '../matmul/single/matmul-kernels.ts'
import { recordPaddedMatmul } from '../matmul/single/record-matmul.ts'
import { splitRows } from '../sharded-matrix.ts'
import type { Ring, RingNode } from './ring-memory.ts'

/**
 * How a node overlaps the message, the upload and the product of a step (Contassot-Vivier, Vialle and
 * Gustedt, "Development methodologies for GPU and cluster of GPUs", chapter 6 of "Designing Scientific
 * Applications on GPUs", 2013):
 *
 * - `none`: one after another.
 * - `native`: the message is sent while the product is computed.
 * - `sequence`: the message is sent while the slice is uploaded and then multiplied.
 * - `streamed`: like `sequence`, but with slice and product divided into pieces, so that the upload of one
 *   piece overlaps the product of another.
 * - `interleaved`: the message and the upload of one step overlap the product of the step before, which takes
 *   one additional step.
 *
 * Two more schemes are not in the book:
 * - `hazards`: like `interleaved`, but ordered only by data dependences.
 * - `direct`: slices are sent directly between the devices instead of through host memory, ordered only by
 *   data dependences.
 */
export type RingScheme = 'none' | 'native' | 'sequence' | 'streamed' | 'interleaved' | 'hazards' | 'direct'

/** Every scheme, starting with the one that overlaps nothing. */
export const ringSchemes: readonly RingScheme[] = [
  'none',
  'native',
  'sequence',
  'streamed',
  'interleaved',
  'hazards',
  'direct',
]

/** The parts of one node's step. */
export type RingPhase = 'message' | 'upload' | 'product'

export interface RecordRingOptions {
  readonly scheme: RingScheme
  /** The number of pieces into which scheme `streamed` divides a step. Default 16. */
  readonly pieces?: number | undefined
  /** Records only this phase, to time it; the result is wrong. Default: all phases and the download of C. */
  readonly only?: RingPhase | undefined
}

/**
 * Records C = A · B on a ring of N nodes: in step s, node i multiplies slice (i + s) mod N of A by its
 * columns of B, while the slice of the next step arrives from the next node. After N steps C is downloaded.
 * No sum is split, so the bits are those of `recordMatmul`.
 */
export function recordRing<T extends MatmulType>(
  recorder: Recorder,
  kernels: MatmulKernels,
  ring: Ring<T>,
  { scheme, pieces = 16, only }: RecordRingOptions,
): void {
  const count = ring.nodes.length
  const has = (phase: RingPhase) => only === undefined || only === phase
  const here = (node: RingNode<T>) => recorder.touches(node.device)
  /** Records the given phases on every node. The phases of one call are ordered only by data dependences. */
  const phases = (parts: { message?: number; upload?: number; product?: number }, cut = 1) => {
    if (parts.message !== undefined && has('message')) messages(parts.message)
    for (let piece = 0; piece < cut; piece++) {
      if (parts.upload !== undefined && has('upload')) uploads(parts.upload, piece, cut)
      if (parts.product !== undefined && has('product')) products(parts.product, piece, cut)
    }
  }
  const fences = () => {
    for (const node of ring.nodes) if (here(node)) recorder.fence(node.device)
  }
  const step = (parts: Parameters<typeof phases>[0], cut = 1) => {
    phases(parts, cut)
    fences()
  }

  switch (scheme) {
    case 'none':
      for (let s = 0; s < count; s++) {
        step({ upload: s })
        step({ product: s })
        step({ message: s })
      }
      break
    case 'native':
      for (let s = 0; s < count; s++) {
        step({ upload: s })
        step({ product: s, message: s })
      }
      break
    case 'sequence':
      for (let s = 0; s < count; s++) step({ message: s, upload: s, product: s })
      break
    case 'streamed':
      for (let s = 0; s < count; s++) step({ message: s, upload: s, product: s }, Math.max(1, pieces))
      break
    case 'interleaved':
      for (let s = 0; s <= count; s++)
        step({ ...(s < count && { message: s, upload: s }), ...(s > 0 && { product: s - 1 }) })
      break
    case 'hazards':
      for (let s = 0; s < count; s++) phases({ message: s, upload: s, product: s })
      break
    case 'direct':
      phases({ upload: 0 })
      for (let s = 0; s < count; s++) {
        phases({ product: s })
        if (s < count - 1 && has('message')) directMessages(s)
      }
      break
  }
  if (only === undefined)
    for (const node of ring.nodes)
      if (here(node))
        recorder.download(
          node.c.block(0, 0, ring.shape.m, node.columns.rows),
          node.result.reshape(ring.shape.m, node.columns.rows),
          { label: 'download C' },
        )

  /** The slice that node `index` multiplies in step `s`. */
  function sliceOf(index: number, s: number) {
    return ring.slices[(index + s) % count]!
  }

  /** The position of that slice in host memory, from row `row`. */
  function onHost(index: number, s: number, row: number, rows: number): HostView<T> {
    const node = ring.nodes[index]!
    const buffer: HostBuffer<T> = s === 0 ? node.own : node.circulating[((s - 1) % 2) as 0 | 1]
    return buffer.slice(row * ring.shape.k, rows * ring.shape.k).reshape(rows, ring.shape.k)
  }

  function onDevice(index: number, s: number) {
    const twice = scheme === 'interleaved' || scheme === 'hazards' || scheme === 'direct'
    return ring.nodes[index]!.a[twice ? ((s % 2) as 0 | 1) : 0]
  }

  /**
   * Copies slices from the host memory of each next node. The last step does so too, which returns every
   * slice to its own node.
   */
  function messages(s: number): void {
    if (count === 1) return
    for (const [index, node] of ring.nodes.entries()) {
      const from = (index + 1) % count
      if (!recorder.touches(node.device, ring.nodes[from]!.device)) continue
      const { rows } = sliceOf(from, s)
      recorder.copy(onHost(from, s, 0, rows), onHost(index, s + 1, 0, rows), { label: `message ${s}` })
    }
  }

  function directMessages(s: number): void {
    for (const [index, node] of ring.nodes.entries()) {
      const from = (index + 1) % count
      if (!recorder.touches(node.device, ring.nodes[from]!.device)) continue
      const { rows } = sliceOf(from, s)
      recorder.copy(
        onDevice(from, s).block(0, 0, rows, ring.shape.k),
        onDevice(index, s + 1).block(0, 0, rows, ring.shape.k),
        { label: `message ${s}` },
      )
    }
  }

  /** The rows of a slice in one of `cut` pieces, which begin at tile boundaries. */
  function pieceOf(index: number, s: number, piece: number, cut: number) {
    return splitRows(sliceOf(index, s).rows, cut, cut === 1 ? 1 : 4)[piece]!
  }

  function uploads(s: number, piece: number, cut: number): void {
    for (const [index, node] of ring.nodes.entries()) {
      if (!here(node)) continue
      const { row, rows } = pieceOf(index, s, piece, cut)
      if (rows > 0)
        recorder.upload(onHost(index, s, row, rows), onDevice(index, s).block(row, 0, rows, ring.shape.k), {
          label: `upload ${s}`,
        })
    }
  }

  function products(s: number, piece: number, cut: number): void {
    for (const [index, node] of ring.nodes.entries()) {
      if (!here(node)) continue
      const slice = sliceOf(index, s)
      const { row, rows } = pieceOf(index, s, piece, cut)
      if (rows > 0)
        recordPaddedMatmul(
          recorder,
          kernels,
          onDevice(index, s).block(row, 0, rows, ring.stride),
          node.b,
          node.c.block(slice.row + row, 0, rows, node.c.columns),
          { device: node.device, label: `product ${s}` },
        )
    }
  }
}
