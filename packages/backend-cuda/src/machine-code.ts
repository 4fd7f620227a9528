/** The architecture whose machine code has VIMNMX3 and loses negations in it; see `hasSignedExtremesOfThree`. */
export const architectureOfExtremes = 'sm_90'

/** A flag of an ELF section: it contains instructions. */
const executable = 4n
/** The type of an ELF section without contents. */
const withoutContents = 8

/**
 * Whether machine code for compute capability 9.0 has a signed VIMNMX3, the minimum or maximum of three
 * integers. ptxas 13.0 makes it of two `max.s32` or `min.s32`, and loses the negation if the second operand
 * of the inner one is `-x`, whatever it was computed as. Without this instruction, that cannot have happened;
 * the unsigned one keeps it.
 *
 * @param image - A cubin: an ELF file with 16 bytes for each instruction. PTX has no machine code.
 */
export function hasSignedExtremesOfThree(image: Uint8Array): boolean {
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength)
  const isElf = image.byteLength >= 64 && view.getUint32(0) === 0x7f454c46
  if (!isElf) return false
  const sections = Number(view.getBigUint64(0x28, true))
  const sectionByteLength = view.getUint16(0x3a, true)
  const count = view.getUint16(0x3c, true)
  for (let section = sections; section < sections + count * sectionByteLength; section += sectionByteLength) {
    if (view.getUint32(section + 4, true) === withoutContents) continue
    if ((view.getBigUint64(section + 8, true) & executable) === 0n) continue
    const start = Number(view.getBigUint64(section + 24, true))
    const end = start + Number(view.getBigUint64(section + 32, true))
    // The opcode without the kind of its operands is in the lowest 9 of 128 bits; bit 72 makes it signed.
    for (let at = start; at + 16 <= end; at += 16)
      if ((view.getUint16(at, true) & 0x1ff) === 0x00f && (view.getUint8(at + 9) & 1) === 1) return true
  }
  return false
}
