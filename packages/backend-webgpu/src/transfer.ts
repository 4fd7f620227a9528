import { GpuError } from '@tandem-gpu/core'
import { type Extent, isContiguous } from '@tandem-gpu/core/backend'
import type { GpuStep, GpuStepBuilder } from './gpu-step.ts'
import type { DeviceRegion, PaddedBuffer } from './padded-buffer.ts'
import { denseRegion, padTo4 } from './padded-buffer.ts'
import { prefersRowCommands } from './region-lowering.ts'

/** A part of host memory, with the same rows as the device region that it is copied to or from. */
export interface HostRegion extends Extent {
  readonly arrayBuffer: ArrayBuffer
}

/** One piece of an upload: `writeBuffer` of `host`'s bytes to `target`, then `steps`. */
export interface UploadChunk {
  readonly host: HostRegion
  readonly target: PaddedBuffer
  readonly targetOffset: number
  readonly steps: readonly GpuStep[]
}

/**
 * One piece of a download: `steps`, then `copies` into staging memory, which holds the rows of `host` without
 * gaps from byte `skip` on.
 */
export interface DownloadChunk {
  readonly host: HostRegion
  readonly steps: readonly GpuStep[]
  readonly copies: readonly {
    readonly source: PaddedBuffer
    readonly sourceOffset: number
    readonly stagingOffset: number
    readonly byteLength: number
  }[]
  readonly stagingByteLength: number
  readonly skip: number
}

/** WebGPU has no page-locked memory: transfers go through staging memory in pieces of at most this size. */
export const chunkByteLength = 16 * 1024 * 1024

export function prepareUpload(
  host: HostRegion,
  target: DeviceRegion,
  builder: GpuStepBuilder,
): UploadChunk[] {
  return chunks(host, target).map(([from, to]) => {
    const endsBuffer = to.byteOffset + to.rowByteLength === to.buffer.byteLength
    if (to.rows === 1 && to.byteOffset % 4 === 0 && (to.rowByteLength % 4 === 0 || endsBuffer)) {
      return { host: from, target: to.buffer, targetOffset: to.byteOffset, steps: [] }
    }
    const scratch = builder.scratch(to.rows * to.rowByteLength)
    return { host: from, target: scratch, targetOffset: 0, steps: builder.copy(denseRegion(scratch, to), to) }
  })
}

export function prepareDownload(
  source: DeviceRegion,
  host: HostRegion,
  builder: GpuStepBuilder,
): DownloadChunk[] {
  return chunks(host, source).map(([to, from]) => {
    const byteLength = from.rows * from.rowByteLength
    if (from.rows === 1) {
      const skip = from.byteOffset % 4
      const stagingByteLength = padTo4(skip + byteLength)
      const copy = {
        source: from.buffer,
        sourceOffset: from.byteOffset - skip,
        stagingOffset: 0,
        byteLength: stagingByteLength,
      }
      return { host: to, steps: [], copies: [copy], stagingByteLength, skip }
    }
    const { byteOffset, rowByteLength, rowByteStride } = from
    if (
      prefersRowCommands(from.rows, from.rowByteLength, from.buffer.physical.software) &&
      [byteOffset, rowByteLength, rowByteStride].every((n) => n % 4 === 0)
    ) {
      const copies = Array.from({ length: from.rows }, (_, row) => ({
        source: from.buffer,
        sourceOffset: byteOffset + row * rowByteStride,
        stagingOffset: row * rowByteLength,
        byteLength: rowByteLength,
      }))
      return { host: to, steps: [], copies, stagingByteLength: byteLength, skip: 0 }
    }
    const scratch = builder.scratch(byteLength)
    const steps = builder.copy(from, denseRegion(scratch, from))
    const stagingByteLength = padTo4(byteLength)
    const copy = { source: scratch, sourceOffset: 0, stagingOffset: 0, byteLength: stagingByteLength }
    return { host: to, steps, copies: [copy], stagingByteLength, skip: 0 }
  })
}

/**
 * The bytes of `host` without gaps, padded to a multiple of 4: a view if host memory already has this form,
 * otherwise a copy.
 */
export function packed(host: HostRegion): Uint8Array<ArrayBuffer> {
  const byteLength = host.rows * host.rowByteLength
  if (host.rows === 1 && byteLength % 4 === 0) {
    return hostBytes(host, host.byteOffset, byteLength)
  }
  const bytes = new Uint8Array(padTo4(byteLength))
  for (let row = 0; row < host.rows; row++) {
    const start = host.byteOffset + row * host.rowByteStride
    bytes.set(hostBytes(host, start, host.rowByteLength), row * host.rowByteLength)
  }
  return bytes
}

/** Writes the consecutive rows in `bytes` to `host`. */
export function unpack(bytes: Uint8Array, host: HostRegion): void {
  for (let row = 0; row < host.rows; row++) {
    const start = host.byteOffset + row * host.rowByteStride
    const from = row * host.rowByteLength
    hostBytes(host, start, host.rowByteLength).set(bytes.subarray(from, from + host.rowByteLength))
  }
}

/** Copies between two parts of host memory of equal rows. */
export function copyRows(from: HostRegion, to: HostRegion): void {
  for (let row = 0; row < from.rows; row++) {
    const bytes = hostBytes(from, from.byteOffset + row * from.rowByteStride, from.rowByteLength)
    hostBytes(to, to.byteOffset + row * to.rowByteStride, to.rowByteLength).set(bytes)
  }
}

function hostBytes(host: HostRegion, byteOffset: number, byteLength: number): Uint8Array<ArrayBuffer> {
  if (host.arrayBuffer.byteLength === 0)
    throw new GpuError('validation', 'The host memory of a transfer was detached while it waited.')
  return new Uint8Array(host.arrayBuffer, byteOffset, byteLength)
}

/** Splits both sides into pieces of at most `chunkByteLength`: several rows, or part of one row. */
function chunks(host: HostRegion, device: DeviceRegion): [HostRegion, DeviceRegion][] {
  const { rows, rowByteLength } = device
  if (rows > 1 && isContiguous(host) && isContiguous(device)) {
    const row = { rows: 1, rowByteLength: rows * rowByteLength, rowByteStride: rows * rowByteLength }
    return chunks({ ...host, ...row }, { ...device, ...row })
  }
  const pieces: [HostRegion, DeviceRegion][] = []
  const rowsAPiece = Math.max(1, Math.floor(chunkByteLength / rowByteLength))
  for (let row = 0; row < rows; row += rowsAPiece) {
    const pieceRows = Math.min(rowsAPiece, rows - row)
    for (let start = 0; start < rowByteLength; start += chunkByteLength) {
      const size = { rows: pieceRows, rowByteLength: Math.min(chunkByteLength, rowByteLength - start) }
      pieces.push([
        { ...host, ...size, byteOffset: host.byteOffset + row * host.rowByteStride + start },
        { ...device, ...size, byteOffset: device.byteOffset + row * device.rowByteStride + start },
      ])
    }
  }
  return pieces
}
