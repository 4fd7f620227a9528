import type { BindGroupState } from './bind-group.ts'
import { areEquivalent } from './bind-group-layout.ts'
import type { BufferState } from './buffer.ts'
import type { PipelineProgram } from './compute-pipeline.ts'

interface Bound {
  readonly group: BindGroupState
  readonly offsets: ArrayLike<number>
}

/** Bytes that a dispatch touches. */
interface Touched {
  readonly state: BufferState
  readonly offset: number
  readonly size: number
  /** Whether the dispatch may write these bytes. */
  readonly writable: boolean
}

/**
 * Returns why the bindings do not fit a dispatch, or undefined if they do. `counts` is the buffer range that
 * an indirect dispatch reads. One dispatch either reads or writes a buffer (usage scope), and a written range
 * overlaps no other bound range: kernels are compiled with that assumption. Buffers over the same memory are
 * compared by byte range.
 */
export function dispatchProblem(
  program: PipelineProgram,
  groups: readonly (Bound | undefined)[],
  counts?: Touched,
): string | undefined {
  const touched: Touched[] = counts === undefined ? [] : [counts]
  for (let index = 0; index < program.groups.length; index++) {
    const content = program.groups[index]
    if (content === undefined || content.entries.length === 0) continue
    const bound = groups[index]
    if (bound === undefined) return `no bind group is set for group ${index}, which the pipeline needs.`
    const { group, offsets } = bound
    if (!areEquivalent(group.content, content))
      return `the bind group that is set for group ${index} does not have the same layout as the pipeline.`
    for (const range of group.ranges) {
      const { dynamic } = range
      touched.push(dynamic < 0 ? range : { ...range, offset: range.offset + offsets[dynamic]! })
    }
  }
  for (const { group, entry, binding, minByteLength } of program.slots) {
    const { size } = groups[group]!.group.ranges[entry]!
    if (size < minByteLength)
      return `binding ${binding} of group ${group} has ${size} bytes; the kernel needs ${minByteLength}.`
  }
  for (let i = 0; i < touched.length; i++) {
    const written = touched[i]!
    if (!written.writable) continue
    for (let j = 0; j < touched.length; j++) {
      // Compare positions, not objects: the same bind group may be set for two groups.
      if (i === j) continue
      const other = touched[j]!
      if (!other.writable && other.state === written.state)
        return 'a buffer is bound both for reading and for writing.'
      if (shareBytes(written, other))
        return other.writable
          ? 'two bindings that are written share memory.'
          : 'a buffer that is written shares memory with one that is read.'
    }
  }
  return undefined
}

function shareBytes(a: Touched, b: Touched): boolean {
  if (a.state.memory !== b.state.memory) return false
  const startA = a.state.memoryOffset + a.offset
  const startB = b.state.memoryOffset + b.offset
  return startA < startB + b.size && startB < startA + a.size
}
