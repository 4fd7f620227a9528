import type { Plan } from '@tandem-gpu/core'
import type { PlanCommand } from '@tandem-gpu/core/backend'
import type { NativeMessage } from './native-addon.ts'

/** A command of the inner backend, or a message between memory of two ranks. */
export type Step = CommandStep | MessageStep

interface StepBase {
  /** Steps that must complete first: earlier ones of this repetition, and any of the previous one. */
  after: number[]
  afterPrevious: number[]
  /** Index in the rank's plan. */
  readonly original: number
}

interface CommandStep extends StepBase {
  readonly kind: 'command'
  readonly command: PlanCommand
}

interface MessageStep extends StepBase {
  readonly kind: 'message'
  readonly message: Omit<NativeMessage, 'after' | 'afterPrevious'>
}

/**
 * A rank's plan in the form that the native progress thread runs: plans for the inner backend, and messages.
 */
export interface SegmentedPlan {
  /** The first nodes, in an order in which a queue can run them. */
  readonly segments: readonly Segment[]
  readonly messages: readonly Omit<NativeMessage, 'after' | 'afterPrevious'>[]
  /** The edges of all nodes: segments first, then messages. */
  readonly after: readonly (readonly number[])[]
  readonly afterPrevious: readonly (readonly number[])[]
}

export interface Segment {
  readonly plan: Plan
  /** For each command of `plan`, its index in the rank's plan. */
  readonly originalIndex: readonly number[]
}

/**
 * Combines the commands between messages into plans for the inner backend. A command's segment is determined
 * by the last message that it depends on and the first message that depends on it, in recorded order.
 * Commands that a message waits for are therefore issued before commands that may overlap with it, and
 * commands that use received data do not wait for later messages.
 *
 * A segment waits for everything that its commands wait for, so some commands wait longer than necessary.
 * This cannot cause a deadlock: the first message that is not complete, in recorded order, depends only on
 * segments that wait for earlier messages, so these segments run and the message is sent.
 */
export function placeInSegments(steps: readonly Step[], plan: Plan): SegmentedPlan {
  const none = steps.length
  const lastBefore = steps.map(() => -1)
  const firstAfter = steps.map(() => none)
  for (const [index, { after }] of steps.entries())
    for (const from of after)
      lastBefore[index] = Math.max(lastBefore[index]!, isMessageStep(steps, from) ? from : lastBefore[from]!)
  for (let index = steps.length - 1; index >= 0; index--)
    for (const from of steps[index]!.after)
      firstAfter[from] = Math.min(firstAfter[from]!, isMessageStep(steps, index) ? index : firstAfter[index]!)

  const groups = new Map<string, { last: number; first: number; members: number[] }>()
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'message') continue
    const [last, first] = [lastBefore[index]!, firstAfter[index]!]
    const group = groups.get(`${last} ${first}`)
    if (group === undefined) groups.set(`${last} ${first}`, { last, first, members: [index] })
    else group.members.push(index)
  }
  const ordered = [...groups.values()]
    .sort((a, b) => a.last - b.last || a.first - b.first)
    .map(({ members }) => members)
  const messages = steps.flatMap((step, index) => (step.kind === 'message' ? [index] : []))
  const nodeOf = new Map<number, number>()
  for (const [node, members] of ordered.entries()) for (const step of members) nodeOf.set(step, node)
  for (const [position, step] of messages.entries()) nodeOf.set(step, ordered.length + position)

  const nodes = [...ordered, ...messages.map((step) => [step])]
  const nodesBefore = (edges: 'after' | 'afterPrevious') =>
    nodes.map((members, node) => {
      const from = new Set(
        members.flatMap((step) => steps[step]![edges].map((before) => nodeOf.get(before)!)),
      )
      // A node always follows itself.
      from.delete(node)
      return [...from].sort((a, b) => a - b)
    })
  return {
    segments: ordered.map((members) => segmentOf(plan, steps, members, nodes.length === 1)),
    messages: messages.map((step) => (steps[step] as MessageStep).message),
    after: nodesBefore('after'),
    afterPrevious: nodesBefore('afterPrevious'),
  }
}

function isMessageStep(steps: readonly Step[], index: number): boolean {
  return steps[index]!.kind === 'message'
}

/** `alone`: the inner backend repeats the segment, so it keeps its edges between repetitions. */
function segmentOf(plan: Plan, steps: readonly Step[], members: readonly number[], alone: boolean): Segment {
  const position = new Map(members.map((step, index) => [step, index]))
  const within = (edges: readonly number[]) =>
    [...new Set(edges.flatMap((from) => position.get(from) ?? []))].sort((a, b) => a - b)
  const commands = members.map((step, index): PlanCommand => {
    const { command, after, afterPrevious } = steps[step] as CommandStep
    return { ...command, index, after: within(after), afterPrevious: alone ? within(afterPrevious) : [] }
  })
  return {
    plan: { ...plan, commands },
    originalIndex: members.map((step) => steps[step]!.original),
  }
}
