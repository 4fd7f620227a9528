import { counted } from '../described-value.ts'
import { invalid } from '../errors.ts'
import type { OwnedKernel } from '../kernels/kernel.ts'
import type { StorageSlot } from '../kernels/kernel-layout.ts'
import type { ByteRegion } from '../plan/plan.ts'
import type { DispatchOptions } from './recorder.ts'

/** The memory that a dispatch binds to a storage variable. */
export interface BoundRegion {
  readonly slot: StorageSlot
  /** The view. */
  readonly region: ByteRegion
  /** The start of the binding, and its size in bytes. */
  readonly byteOffset: number
  readonly byteLength: number
}

/**
 * Throws `validation` if a dispatch has more invocations than a view has elements, and each accesses the
 * element at its `global_invocation_id` plus a constant: with `clamp`, the invocations beyond the end would
 * all access the last element, or their writes would be lost.
 */
export function requireInvocationsInside(
  kernel: OwnedKernel,
  bound: readonly BoundRegion[],
  workgroups: readonly [x: number, y: number, z: number],
  args: DispatchOptions['args'],
  where: string,
): void {
  for (const access of kernel.compiled.accesses()) {
    const { variable, axis, offset, base } = access
    const view = bound.find(({ slot }) => slot.name === variable.name)
    if (view === undefined) continue
    const { slot, region, byteOffset, byteLength } = view
    let before = 0
    if (base !== undefined) {
      // The base is known for every run only if core fills it in.
      if (base !== `${slot.name}_base` || args[base] !== undefined) continue
      before = (region.byteOffset - byteOffset) / slot.strideByteLength
    }
    const elements = Math.floor((byteLength - access.byteOffset) / access.strideByteLength) - before
    const size = kernel.workgroupSize[axis]
    const invocations = workgroups[axis] * size
    if (offset >= 0 && invocations + offset <= elements) continue
    const fitting = offset < 0 ? 0 : Math.max(0, Math.floor((elements - offset) / size))
    const letter = 'xyz'[axis]
    const index = `${base === undefined ? '' : `${base} + `}global_invocation_id.${letter}${offset === 0 ? '' : offset > 0 ? ` + ${offset}` : ` - ${-offset}`}`
    const fits =
      fitting === 0
        ? `no workgroup of ${size} fits`
        : `at most ${counted(fitting, 'workgroup')} fit in ${letter}`
    throw invalid(
      `The ${where} runs ${invocations} invocations in ${letter}. Each accesses ${slot.name}[${index}], and the view has ${Math.max(0, elements)} elements: ${fits}. A kernel that first compares the index with the length may run more.`,
    )
  }
}
