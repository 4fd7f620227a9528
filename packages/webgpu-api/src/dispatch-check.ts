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
}

/**
 * Why what is bound does not fit a dispatch; undefined where it does. `counts` is what an indirect dispatch reads. A buffer is either read
 * or written by one dispatch (usage scope), and what is written shares no byte with anything else that is bound: kernels are compiled
 * for that. Buffers over the same memory are judged by their bytes.
 */
export function dispatchProblem(
  program: PipelineProgram,
  groups: readonly (Bound | undefined)[],
  counts?: Touched,
): string | undefined {
  const reads: Touched[] = counts === undefined ? [] : [counts]
  const writes: Touched[] = []
  for (const [index, content] of program.groups.entries()) {
    if (content === undefined || content.entries.length === 0) continue
    const bound = groups[index]
    if (bound === undefined) return `no bind group is set for group ${index}, which the pipeline needs.`
    if (!areEquivalent(bound.group.content, content))
      return `the bind group that is set for group ${index} does not have the same layout as the pipeline.`
    for (const { state, offset, size, writable, dynamic } of bound.group.ranges) {
      const start = dynamic < 0 ? offset : offset + bound.offsets[dynamic]!
      ;(writable ? writes : reads).push({ state, offset: start, size })
    }
  }
  for (const { group, entry, binding, minByteLength } of program.slots) {
    const { size } = groups[group]!.group.ranges[entry]!
    if (size < minByteLength)
      return `binding ${binding} of group ${group} has ${size} bytes; the kernel needs ${minByteLength}.`
  }
  for (const [i, write] of writes.entries()) {
    for (const read of reads) {
      if (read.state === write.state) return 'a buffer is bound both for reading and for writing.'
      if (shareBytes(read, write)) return 'a buffer that is written shares memory with one that is read.'
    }
    for (const other of writes.slice(i + 1))
      if (shareBytes(write, other)) return 'two bindings that are written share memory.'
  }
  return undefined
}

function shareBytes(a: Touched, b: Touched): boolean {
  if (a.state.memory !== b.state.memory) return false
  const startA = a.state.memoryOffset + a.offset
  const startB = b.state.memoryOffset + b.offset
  return startA < startB + b.size && startB < startA + a.size
}
