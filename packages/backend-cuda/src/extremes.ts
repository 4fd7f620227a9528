/** A flag of an ELF section: it contains instructions. */
const executable = 4n
/** The type of an ELF section without contents. */
const withoutContents = 8

/** The first architecture that has VIMNMX3 and VIADDMNMX. */
const architectureOfExtremes = 90

/**
 * Whether machine code has a signed VIMNMX3, the minimum or maximum of three integers. ptxas 13.0 makes it of
 * two `max.s32` or `min.s32` for sm_90, sm_100 and sm_103, and loses the negation if the second operand of the
 * inner one is `-x`, whatever it was computed as. Without this instruction, that cannot have happened; the
 * unsigned one keeps it.
 *
 * @param image - A cubin: an ELF file with 16 bytes for each instruction.
 * @param architecture - For example `sm_90`. The others that nvcc 13.0 compiles for have no such instruction.
 */
export function hasSignedExtremesOfThree(image: Uint8Array, architecture: string): boolean {
  // The opcode without the kind of its operands is in the lowest 9 of 128 bits; bit 72 makes it signed.
  for (const [view, at] of extremesOf(image, architecture))
    if ((view.getUint16(at, true) & 0x1ff) === 0x00f && (view.getUint8(at + 9) & 1) === 1) return true
  return false
}

/** The places of the instructions in machine code with such instructions. */
function* extremesOf(
  image: Uint8Array,
  architecture: string,
): Generator<readonly [view: DataView, at: number]> {
  if (Number(/\d+/.exec(architecture)?.[0] ?? 0) < architectureOfExtremes) return
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength)
  const isElf = image.byteLength >= 64 && view.getUint32(0) === 0x7f454c46
  if (!isElf) return
  const sections = Number(view.getBigUint64(0x28, true))
  const sectionByteLength = view.getUint16(0x3a, true)
  const count = view.getUint16(0x3c, true)
  for (let section = sections; section < sections + count * sectionByteLength; section += sectionByteLength) {
    if (view.getUint32(section + 4, true) === withoutContents) continue
    if ((view.getBigUint64(section + 8, true) & executable) === 0n) continue
    const start = Number(view.getBigUint64(section + 24, true))
    const end = start + Number(view.getBigUint64(section + 32, true))
    for (let at = start; at + 16 <= end; at += 16) yield [view, at]
  }
}
