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

/** A program of one rank. */
export interface MpiExecutable extends Executable {
  readonly segments: readonly (Pick<Segment, 'originalIndex'> & { readonly executable: Executable })[]
  /** What the inner backend has made of the plan. */
  readonly made: readonly Executable[]
  readonly nodes: PreparedNodes
  /** One segment and no message: the inner backend repeats it. */
  readonly alone: boolean
  /** Where its messages go through. */
  readonly memory: ProgramMemory
  /** What messages are sent from and received into. */
  readonly messageMemory: readonly HostAllocation[]
}

/** Host memory of the program itself that messages are sent from and received into. */
export function hostMemoryOfMessages({ buffers, commands }: Plan<Handles, PlanPart>): HostAllocation[] {
  return commands.flatMap((part) => {
    if (!isMessage(part) || part.region === undefined) return []
    const buffer = buffers[part.region.buffer]!
    return buffer.kind === 'host' ? [buffer.allocation] : []
  })
}
