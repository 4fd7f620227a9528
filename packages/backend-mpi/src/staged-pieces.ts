import type { ByteRegion } from '@tandem-gpu/core/backend'

/**
 * The number of bytes that the native thread sends or receives at a time (`Transfer::pieceByteLength`), for
 * dense memory and for rows.
 */
const wirePieceByteLength = 4 * 2 ** 20
/**
 * Each piece adds a plan of the inner backend. Pieces of device memory need no copy through the host, so
 * fewer and longer pieces suffice there.
 */
const mostPieces = { host: 64, device: 16 } as const
/** While one piece is sent or received, the next is downloaded, or the last uploaded. */
const piecesInMemory = 3

/** A part of a message of device memory, and its position in the staging memory. */
export interface StagedPiece {
  readonly byteLength: number
  /** Offset in the staging memory. Pieces of the same slot use it one after another. */
  readonly byteOffset: number
  readonly slot: number
  /** The regions of the piece in device memory, and the offset of each in the piece. */
  readonly regions: readonly { readonly region: ByteRegion; readonly at: number }[]
}

/**
 * Divides a message of device memory into pieces, so that only three of them need staging memory (of kind
 * `through`), and copies overlap with messages. The length of a piece is a multiple of `wirePieceByteLength`,
 * since the other side may have the message in one piece.
 */
export function stagedPieces(
  region: ByteRegion,
  through: 'host' | 'device',
): { byteLength: number; pieces: readonly StagedPiece[] } {
  const total = region.rows * region.rowByteLength
  const size = wirePieceByteLength * Math.max(1, Math.ceil(total / wirePieceByteLength / mostPieces[through]))
  const pieces = Array.from({ length: Math.max(1, Math.ceil(total / size)) }, (_, index): StagedPiece => {
    const slot = index % piecesInMemory
    const byteLength = Math.min(size, total - index * size)
    return { byteLength, byteOffset: slot * size, slot, regions: partsOf(region, index * size, byteLength) }
  })
  return { byteLength: Math.min(total, piecesInMemory * size), pieces }
}

/**
 * `byteLength` bytes from `offset` on of a region's rows, as at most three regions: the rest of a row, whole
 * rows, and the beginning of a row.
 */
function partsOf(region: ByteRegion, offset: number, byteLength: number): StagedPiece['regions'] {
  const { rowByteLength: width, rowByteStride, byteOffset } = region
  const parts: { region: ByteRegion; at: number }[] = []
  for (let at = 0; at < byteLength; ) {
    const row = Math.floor((offset + at) / width)
    const column = (offset + at) % width
    const rest = byteLength - at
    const rows = column === 0 ? Math.max(1, Math.floor(rest / width)) : 1
    const rowByteLength = Math.min(width - column, rest)
    parts.push({
      at,
      region: { ...region, byteOffset: byteOffset + row * rowByteStride + column, rows, rowByteLength },
    })
    at += rows * rowByteLength
  }
  return parts
}
