import type { Plan, PlanCommand, PlanExchange } from './plan.ts'

/** Part of a plan with an exchange in it. Carried out in order: parts of one `gate` are issued together. */
export interface DeviceSegment {
  /** Issued once this exchange (and all before it) are done; -1 for what depends on none. Position in `exchanges`. */
  readonly gate: number
  readonly plan: Plan
  /** For each command of `plan`, its index in the whole plan. */
  readonly originalIndex: readonly number[]
}

export interface SegmentedExchange {
  readonly command: PlanExchange
  /** What must complete first: segments and other exchanges, by position. */
  readonly segments: readonly number[]
  readonly exchanges: readonly number[]
}

export interface SegmentedPlan {
  /** In the order of issue; a backend runs them in that order, so edges between segments need nothing more. */
  readonly segments: readonly DeviceSegment[]
  readonly exchanges: readonly SegmentedExchange[]
}

/**
 * Splits a plan at its exchanges. A device command belongs to the segment of (the last exchange it depends on, the first
 * exchange that depends on it): what an exchange waits for is issued before what may run beside it.
 */
export function segmentPlan(plan: Plan): SegmentedPlan {
  const { commands } = plan
  const exchangeCommands = commands.filter((command) => command.kind === 'exchange')
  const ordinal = new Map(exchangeCommands.map((command, i) => [command.index, i]))
  const gate = new Array<number>(commands.length).fill(-1)
  const need = new Array<number>(commands.length).fill(exchangeCommands.length)
  for (const { index, after } of commands)
    for (const from of after) gate[index] = Math.max(gate[index]!, ordinal.get(from) ?? gate[from]!)
  for (const { index, after } of commands.toReversed())
    for (const from of after) need[from] = Math.min(need[from]!, ordinal.get(index) ?? need[index]!)

  const groups = new Map<string, PlanCommand[]>()
  for (const command of commands) {
    if (command.kind === 'exchange') continue
    const key = `${gate[command.index]} ${need[command.index]}`
    const members = groups.get(key)
    if (members === undefined) groups.set(key, [command])
    else members.push(command)
  }
  const ordered = [...groups.values()].sort(
    ([a], [b]) => gate[a!.index]! - gate[b!.index]! || need[a!.index]! - need[b!.index]!,
  )
  const segmentOf = new Map<number, number>()
  const segments = ordered.map((members, segment): DeviceSegment => {
    for (const { index } of members) segmentOf.set(index, segment)
    return {
      gate: gate[members[0]!.index]!,
      plan: subPlan(plan, members, segment),
      originalIndex: members.map(({ index }) => index),
    }
  })
  const exchanges = exchangeCommands.map((command): SegmentedExchange => {
    const ancestors = ancestorsOf(plan, command.index)
    const own = [...ancestors]
    return {
      command,
      segments: distinct(own.map((index) => segmentOf.get(index))),
      exchanges: distinct(own.map((index) => ordinal.get(index))),
    }
  })
  return { segments, exchanges }
}

function subPlan(plan: Plan, members: readonly PlanCommand[], segment: number): Plan {
  const position = new Map(members.map(({ index }, i) => [index, i]))
  const commands = members.map((command, index) => ({
    ...command,
    index,
    after: distinct(command.after.map((from) => position.get(from))),
    afterPrevious: [],
  }))
  return { ...plan, label: `${plan.label} part ${segment}`, commands }
}

function ancestorsOf(plan: Plan, index: number): Set<number> {
  const found = new Set<number>()
  const open = [...plan.commands[index]!.after]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue
    found.add(next)
    open.push(...plan.commands[next]!.after)
  }
  return found
}

function distinct(numbers: readonly (number | undefined)[]): number[] {
  return [...new Set(numbers.filter((n) => n !== undefined))].sort((a, b) => a - b)
}
