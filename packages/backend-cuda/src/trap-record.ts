import { GpuError } from '@tandem-gpu/core'
import type { CudaPlan } from './cuda-plan.ts'

/**
 * Sixteen words per command: flag, binding in reflection order, element index (low, high), workgroup ID,
 * local ID.
 */
export const trapRecordByteLength = 64

/**
 * The error of the first access outside a declared view, or undefined. `records` holds one record for each
 * command of the plan.
 */
export function trapError(plan: CudaPlan, records: Uint8Array<ArrayBuffer>): GpuError | undefined {
  const words = new DataView(records.buffer, records.byteOffset, records.byteLength)
  for (const command of plan.commands) {
    if (command.kind !== 'dispatch') continue
    const word = (index: number) => words.getUint32(command.index * trapRecordByteLength + index * 4, true)
    if (word(0) === 0) continue
    const kernel = plan.kernels[command.kernel]!
    const binding = kernel.bindings[word(1)]?.name ?? `binding ${word(1)}`
    const index = BigInt(word(2)) | (BigInt(word(3)) << 32n)
    return new GpuError(
      'validation',
      `Kernel '${kernel.label}' accesses element ${BigInt.asIntN(64, index)} of '${binding}', outside the view that dispatch '${command.label}' ` +
        `(command ${command.index}) declares; workgroup (${word(4)}, ${word(5)}, ${word(6)}), invocation (${word(7)}, ${word(8)}, ${word(9)}).`,
    )
  }
  return undefined
}
