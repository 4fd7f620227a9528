import { widthOf } from './ptx-arithmetic.ts'

/** A part of memory that something was put into. */
export interface Region {
  readonly start: number
  readonly byteLength: number
  readonly space: string
}

/**
 * The memory of a launch, one range of addresses for all spaces: variables and buffers, with gaps between
 * them, then workgroup memory, then the local memory of each thread of a block.
 */
export class PtxMemory {
  readonly #bytes: DataView
  readonly #regions: Region[] = []
  #end: number

  constructor(byteLength: number) {
    this.#bytes = new DataView(new ArrayBuffer(byteLength))
    // Address 0 is nobody's.
    this.#end = 4096
  }

  /** Takes the next free bytes. */
  add(byteLength: number, space: string): Region {
    const region = { start: this.#end, byteLength, space }
    this.#regions.push(region)
    this.#end = Math.ceil((this.#end + byteLength) / 256 + 1) * 256
    if (this.#end > this.#bytes.byteLength) throw new RangeError('the memory is full')
    return region
  }

  bytes({ start, byteLength }: Region): Uint8Array {
    return new Uint8Array(this.#bytes.buffer, start, byteLength)
  }

  /** Throws unless the access is aligned and inside one region that it may touch. */
  check(address: number, byteLength: number, space: string, rank: number): void {
    if (space === 'param') return
    const isInside = this.#regions.some(
      (region) =>
        address >= region.start &&
        address + byteLength <= region.start + region.byteLength &&
        (space === 'any' ||
          space === region.space ||
          (space === 'const' && region.space === 'global') ||
          region.space === `${space} ${rank}`) &&
        (!region.space.startsWith('local') || region.space === `local ${rank}`),
    )
    if (!isInside)
      throw new RangeError(`no ${space} memory of ${byteLength} bytes at ${address}, thread ${rank}`)
    if (address % byteLength !== 0) throw new RangeError(`${address} is not a multiple of ${byteLength}`)
  }

  read(address: number, type: string): number | bigint {
    switch (widthOf(type)) {
      case 8:
        return type.startsWith('s') ? this.#bytes.getInt8(address) : this.#bytes.getUint8(address)
      case 16:
        return type.startsWith('s')
          ? this.#bytes.getInt16(address, true)
          : this.#bytes.getUint16(address, true)
      case 32:
        return type.startsWith('s')
          ? this.#bytes.getInt32(address, true)
          : this.#bytes.getUint32(address, true)
      default:
        return this.#bytes.getBigUint64(address, true)
    }
  }

  write(address: number, type: string, value: number | bigint): void {
    const width = widthOf(type)
    if (width === 8) this.#bytes.setUint8(address, Number(value))
    else if (width === 16) this.#bytes.setUint16(address, Number(value), true)
    else if (width === 32) this.#bytes.setUint32(address, Number(value), true)
    else this.#bytes.setBigUint64(address, BigInt(value), true)
  }

  copy(to: number, from: number, byteLength: number): void {
    new Uint8Array(this.#bytes.buffer).copyWithin(to, from, from + byteLength)
  }
}
