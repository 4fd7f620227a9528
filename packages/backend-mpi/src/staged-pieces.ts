import type { ByteRegion } from '@tandem-gpu/core/backend'

/**
 * What the native thread sends and receives at a time (`Transfer::pieceByteLength`), of dense memory and of
 * rows alike.
 */
const wirePieceByteLength = 4 * 2 ** 20
/**
 * Each piece is a plan of the inner backend, and one more in which a repetition is cut. Pieces of device
 * memory cost no copy through the host to wait for: fewer and longer ones suffice there.
 */
const mostPieces = { host: 64, device: 16 } as const
/** While one piece travels, the next is downloaded, or the last uploaded. */
const piecesInMemory = 3

/** A part of a message of device memory, and its place in the memory that it goes through. */
export interface StagedPiece {
  readonly byteLength: number
  /** In the staging memory; pieces of the same slot follow one another. */
  readonly byteOffset: number
  readonly slot: number
  /** The piece in device memory, and where in the piece each region lies. */
  readonly regions: readonly { readonly region: ByteRegion; readonly at: number }[]
}

/**
 * Cuts a message of device memory into pieces, so that staging memory, of the kind `through`, is needed for
 * at most three of them, and copies overlap messages. Pieces are whole multiples of what travels at a time:
 * the other side may have the message in one piece.
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
 * The bytes from `offset` on of a region's rows, as at most three regions: the rest of a row, whole rows, the
 * begin of a row.
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
