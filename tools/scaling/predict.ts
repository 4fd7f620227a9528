import { isMessage } from '@tandem-gpu/core/backend'
import { byteLengthOf, copyCost, kernelSeconds } from './command-cost.ts'
import { constants as c, type Transport } from './machine.ts'
import type { Recorded, RecordedPlan } from './programs.ts'

type Command = RecordedPlan['commands'][number]
type Message = Extract<Command, { kind: 'send' | 'receive' }>

export interface Prediction {
  /** The time of one repetition, or for Jacobi's program of one sweep. */
  readonly seconds: number
  /** The bottleneck: `path`, the longest chain of commands, or the resource that is always busy. */
  readonly bound: string
}

/**
 * Whether a command is a message of the binary tree that distributes Jacobi's residuals to every rank, in
 * addition to the sweeps.
 */
const ofTree = ({ label }: Command) => label === 'gather' || label === 'spread'

/** Predicts the time of a program from the plan of one of its ranks. */
export function predictRank(
  recorded: Recorded,
  rank: number,
  count: number,
  transport: Transport,
): Prediction {
  const { plan, sweeps } = recorded
  const busy = new Map<string, number>()
  if (sweeps !== undefined) {
    // A check of the residuals ends before the next one begins: up one tree of the ranks and down another.
    const looks = plan.commands.filter(({ label }) => label === 'residual').length
    const depth = 2 * Math.ceil(Math.log2(count))
    busy.set('residuals', looks * depth * transport.latency(0, count - 1))
  }
  const sentWith = mirroredSends(plan, rank, count)
  return predict(recorded, busy, {
    message({ kind, peer, region }, use) {
      const bytes = region === undefined ? 0 : byteLengthOf(region)
      const [resource, held] = transport.occupies(rank, peer, bytes)
      // A link has two directions, in and out; one thread carries both.
      use(resource === 'carrier' ? resource : `${resource} ${kind === 'send' ? 'out' : 'in'}`, held)
      return kind === 'send' ? held : transport.latency(rank, peer) + bytes / transport.rate(rank, peer)
    },
    released: (index) => sentWith.get(index),
    edge: () => 0,
  })
}

/** Predicts the time of a program on GPUs that can access each other's memory, from its whole plan. */
export function predictHost(recorded: Recorded, shared = false): Prediction {
  const { plan } = recorded
  const large = plan.commands.some(
    (command) =>
      command.kind === 'copy' &&
      byteLengthOf(command.target) >= 2 ** 20 &&
      copyCost(plan, command).uses.some(([resource]) => resource.startsWith('NVLink')),
  )
  const between = (large && !shared ? c.driverEdge : c.flag).value
  return predict(recorded, new Map(), {
    message() {
      throw new Error('A whole plan has no messages.')
    },
    released: () => undefined,
    edge: (from, to) => (plan.commands[from]!.device === plan.commands[to]!.device ? 0 : between),
  })
}

/** Occupies a resource for some seconds. */
type Use = (resource: string, seconds: number) => void

interface PredictionRules extends Omit<PathRules, 'repetitions'> {
  /** The seconds of a message. */
  readonly message: (message: Message, use: Use) => number
}

/** `busy`: the seconds for which resources are occupied in addition to what the commands occupy. */
function predict(recorded: Recorded, busy: Map<string, number>, rules: PredictionRules): Prediction {
  const { plan, sweeps } = recorded
  const use: Use = (resource, seconds) => busy.set(resource, (busy.get(resource) ?? 0) + seconds)
  const seconds = plan.commands.map((command) =>
    isMessage(command) ? rules.message(command, use) : localCost(recorded, command, use),
  )
  const path = longestPath(plan, seconds, { ...rules, repetitions: sweeps === undefined ? 1 : 2 })
  return largest(path, busy, sweeps ?? 1)
}

function localCost(recorded: Recorded, command: Exclude<Command, Message>, use: Use): number {
  if (command.kind === 'dispatch') {
    const seconds = kernelSeconds(recorded, command)
    use(`kernels ${command.device}`, seconds)
    return seconds
  }
  const { seconds, uses } = copyCost(recorded.plan, command)
  for (const [resource, held] of uses) use(resource, held)
  return seconds
}

function largest(path: number, busy: ReadonlyMap<string, number>, sweeps: number): Prediction {
  let most: Prediction = { seconds: path / sweeps, bound: 'path' }
  // Sums of floating-point numbers in a different order differ in their last bits.
  for (const [resource, seconds] of busy)
    if (seconds / sweeps > most.seconds * (1 + 1e-9))
      most = { seconds: seconds / sweeps, bound: resource.split(' ')[0]! }
  return most
}

/**
 * For each message that this rank receives, its own message that corresponds to its peer's send. Inner ranks
 * do the same work, so the peer p of rank r sends to r when r sends to 2r − p or, at the edge of the ranks,
 * to p. Messages with the same label keep their order.
 */
function mirroredSends(plan: RecordedPlan, rank: number, count: number): Map<number, number> {
  const sends = new Map<string, number[]>()
  const list = (key: string) => {
    const found = sends.get(key) ?? []
    sends.set(key, found)
    return found
  }
  const name = (label: string) => label.replaceAll(/\d+/g, '')
  for (const command of plan.commands)
    if (command.kind === 'send') list(`${command.peer} ${name(command.label)}`).push(command.index)
  const taken = new Map<string, number>()
  const matched = new Map<number, number>()
  const reduced = plan.commands.find(({ label }) => label === 'reduce slice')
  for (const command of plan.commands) {
    if (command.kind !== 'receive' || ofTree(command)) continue
    const key = `${command.peer} ${name(command.label)}`
    const place = taken.get(key) ?? 0
    taken.set(key, place + 1)
    const mirror = (2 * rank - command.peer + count) % count
    const send = sends.get(`${mirror} ${name(command.label)}`)?.[place] ?? sends.get(key)?.[place]
    if (send !== undefined) matched.set(command.index, send)
    // The root of a reduction sends nothing: its peers send when they have reduced a slice as large as its
    // own.
    else if (command.label === 'gather partials' && reduced !== undefined)
      matched.set(command.index, reduced.index)
  }
  return matched
}

interface PathRules {
  /** 2: the time that the second repetition adds to the first. */
  readonly repetitions: 1 | 2
  /**
   * The command whose start (for a send) or end (for a kernel) allows this receive to begin, in addition to
   * its own dependences.
   */
  readonly released: (receive: number) => number | undefined
  /** Seconds between the end of one command and the start of another that follows it. */
  readonly edge: (from: number, to: number) => number
}

/** The longest chain of commands, if resources are not limited. */
function longestPath(
  plan: Pick<RecordedPlan, 'commands'>,
  seconds: readonly number[],
  rules: PathRules,
): number {
  const { commands } = plan
  const count = commands.length
  const begin = new Float64Array(count * rules.repetitions)
  const end = new Float64Array(count * rules.repetitions)
  const ends: number[] = []
  // A receive may wait for a send that is recorded after it, so one pass in recorded order is not enough.
  for (let changed = true, pass = 0; changed; pass++) {
    if (pass > count + 1) throw new Error('The messages of the plan wait for each other.')
    changed = false
    for (let node = 0; node < begin.length; node++) {
      const repetition = Math.floor(node / count)
      const { index, after, afterPrevious } = commands[node % count]!
      let start = 0
      for (const other of after)
        start = Math.max(start, end[repetition * count + other]! + rules.edge(other, index))
      if (repetition > 0)
        for (const other of afterPrevious)
          start = Math.max(start, end[(repetition - 1) * count + other]! + rules.edge(other, index))
      const release = rules.released(index)
      if (release !== undefined) {
        const at = repetition * count + release
        start = Math.max(start, commands[release]!.kind === 'send' ? begin[at]! : end[at]!)
      }
      if (start === begin[node] && end[node] === start + seconds[index]!) continue
      begin[node] = start
      end[node] = start + seconds[index]!
      changed = true
    }
  }
  for (let repetition = 0; repetition < rules.repetitions; repetition++)
    ends.push(end.subarray(repetition * count, (repetition + 1) * count).reduce((a, b) => Math.max(a, b), 0))
  return ends.length === 1 ? ends[0]! : ends[1]! - ends[0]!
}
