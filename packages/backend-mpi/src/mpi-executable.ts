import type { Plan } from '@tandem-gpu/core'
import {
  type Executable,
  type Handles,
  type HostAllocation,
  isMessage,
  type PlanPart,
} from '@tandem-gpu/core/backend'
import type { ProgramMemory } from './message-memory.ts'
import type { PreparedNodes } from './native-addon.ts'
import type { Segment } from './segments.ts'

/** One rank's part of a program, ready to run. */
export interface MpiExecutable extends Executable {
  readonly segments: readonly (Pick<Segment, 'originalIndex'> & { readonly executable: Executable })[]
  /** The executables of the inner backend. */
  readonly made: readonly Executable[]
  readonly nodes: PreparedNodes
  /** The program has one segment and no messages, so the inner backend can repeat it. */
  readonly alone: boolean
  /** The memory that its messages go through. */
  readonly memory: ProgramMemory
  /** The host memory that messages are sent from and received into. */
  readonly messageMemory: readonly HostAllocation[]
}

/** The program's own host memory that messages are sent from and received into. */
export function hostMemoryOfMessages({ buffers, commands }: Plan<Handles, PlanPart>): HostAllocation[] {
  return commands.flatMap((part) => {
    if (!isMessage(part) || part.region === undefined) return []
    const buffer = buffers[part.region.buffer]!
    return buffer.kind === 'host' ? [buffer.allocation] : []
  })
}
