import { type CommandAccesses, deriveHazards } from './hazards.ts'
import type { ByteRegion, PlanPart } from './plan.ts'
import { transitiveReduction } from './transitive-reduction.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** A command whose order is not yet derived. */
export type UnorderedPart = Mutable<PlanPart>

/** The commands of `device` before `position` complete before its commands from `position` on begin. */
export interface Fence {
  readonly device: number
  readonly position: number
}

/**
 * Each stage waits for the one before it; the first waits for the last stage of the previous repetition.
 * `stages` contains the stage of each command, ascending; commands of one stage do not wait for each other.
 */
export function orderByStages(commands: readonly UnorderedPart[], stages: readonly number[]): void {
  const members = new Map<number, number[]>()
  for (const [index, stage] of stages.entries()) {
    const others = members.get(stage)
    if (others === undefined) members.set(stage, [index])
    else others.push(index)
  }
  const groups = [...members.values()]
  for (const [position, indices] of groups.entries())
    for (const index of indices)
      if (position > 0) commands[index]!.after = groups[position - 1]!
      else commands[index]!.afterPrevious = groups.at(-1) ?? []
}

/**
 * Derives the hazards of two repetitions and reduces them; the edges from the first repetition to the second
 * become `afterPrevious`.
 */
export function orderByHazards(
  commands: readonly UnorderedPart[],
  accesses: readonly CommandAccesses[],
  fences: readonly Fence[],
  devicesOf: (command: number) => Iterable<number>,
): void {
  const count = commands.length
  const hazards =
    fences.length === 0 ? deriveHazards(accesses, 2) : fencedHazards(accesses, fences, devicesOf)
  const reduced = transitiveReduction(hazards)
  for (const command of commands) {
    command.after = reduced[command.index]!
    const previous = reduced[count + command.index]!
    // The list ascends, so commands of the previous repetition come first.
    const own = previous.findIndex((other) => other >= count)
    command.afterPrevious = own < 0 ? previous : previous.slice(0, own)
  }
}

/**
 * The hazards of two repetitions, with each fence as a command that writes a mark that every command of its
 * device reads. The fences are then removed, and their predecessors become predecessors of their successors.
 */
function fencedHazards(
  accesses: readonly CommandAccesses[],
  fences: readonly Fence[],
  devicesOf: (command: number) => Iterable<number>,
): number[][] {
  const buffers = accesses.reduce(
    (most, { reads, writes }) => Math.max(most, ...[...reads, ...writes].map(({ buffer }) => buffer + 1)),
    0,
  )
  const fenced = new Set(fences.map(({ device }) => device))
  const mark = (device: number): ByteRegion => ({
    buffer: buffers + device,
    byteOffset: 0,
    rowByteLength: 1,
    rows: 1,
    rowByteStride: 1,
  })
  const nodes: CommandAccesses[] = []
  /** The command of each node; -1 for fences. */
  const commandOf: number[] = []
  let next = 0
  for (let command = 0; command <= accesses.length; command++) {
    for (; fences[next]?.position === command; next++) {
      nodes.push({ reads: [], writes: [mark(fences[next]!.device)] })
      commandOf.push(-1)
    }
    if (command === accesses.length) break
    const { reads, writes } = accesses[command]!
    const marks = [...devicesOf(command)].filter((device) => fenced.has(device)).map(mark)
    nodes.push({ reads: [...reads, ...marks], writes })
    commandOf.push(command)
  }
  const expanded: (readonly number[])[] = []
  const hazards: number[][] = []
  const numberOf = (node: number) =>
    commandOf[node % nodes.length]! + (node < nodes.length ? 0 : accesses.length)
  for (const [node, predecessors] of transitiveReduction(deriveHazards(nodes, 2)).entries()) {
    const list = new Set<number>()
    for (const other of predecessors)
      if (commandOf[other % nodes.length]! < 0) for (const before of expanded[other]!) list.add(before)
      else list.add(numberOf(other))
    expanded.push([...list])
    if (commandOf[node % nodes.length]! >= 0) hazards.push([...list])
  }
  return hazards
}
