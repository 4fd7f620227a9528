import { abortedError, type ExecutionOptions, type ExecutionResult, type Span } from '../backend/execution.ts'
import { GpuError } from '../errors.ts'
import type { ByteRegion, PlanCommand, PlanMessage } from '../plan/plan.ts'
import { type Instance, PlanProgress } from './plan-progress.ts'
import { seededRandom } from './random.ts'
import { isDeferred } from './random-order.ts'
import { executeCommand, type PlanMemory } from './reference-command.ts'
import { sliceMilliseconds } from './reference-execution.ts'
import { type MessageRule, SimulatedMessages } from './simulated-messages.ts'

/** How messages between simulated ranks behave; changes take effect at the next run. */
export interface SimulatedNetwork {
  seed: number
  messages: 'eager' | 'rendezvous' | 'mixed'
  order: 'random' | 'adversarial'
  brokenRule: MessageRule | undefined
}

/** One rank's part of a run. */
interface RankRun {
  readonly rank: number
  readonly memory: PlanMemory
  readonly options: ExecutionOptions
  readonly progress: PlanProgress
  readonly spans: Span[]
  readonly start: number
  settled: boolean
  resolve(result: ExecutionResult): void
  reject(error: unknown): void
}

/** What may happen next: a command begins, the bytes of a message arrive, or a message's part completes. */
interface Action {
  readonly kind: 'begin' | 'arrive' | 'complete'
  readonly run: RankRun
  readonly instance: Instance
  readonly priority: number
  act(): void
}

/** One run of a program on all ranks: each joins with `execute`. */
export class SimulatedRun {
  readonly #network: SimulatedNetwork
  readonly #random: () => number
  readonly #prioritized: boolean
  readonly #messages: SimulatedMessages
  readonly #count: number
  readonly #ranks: RankRun[] = []
  /** Ranks that take part no longer. */
  readonly #ended = new Map<number, string>()
  readonly #priorities = new Map<string, number>()
  #actions: Action[] = []
  #limit = Number.POSITIVE_INFINITY
  #driving = false
  /** A rank has failed: others may wait for it, and its caller says so to them. */
  #failed = false

  constructor(count: number, network: SimulatedNetwork, number: number) {
    this.#count = count
    this.#network = { ...network }
    this.#random = seededRandom(network.seed * 1009 + number)
    this.#prioritized = this.#random() < 0.5
    const { messages } = network
    const eager = messages === 'mixed' ? () => this.#random() < 0.5 : () => messages === 'eager'
    this.#messages = new SimulatedMessages(eager, network.brokenRule)
  }

  execute(rank: number, memory: PlanMemory, options: ExecutionOptions): Promise<ExecutionResult> {
    return new Promise((resolve, reject) => {
      const lost = this.#ended.get(rank)
      if (lost !== undefined) {
        reject(new GpuError('device-lost', lost))
        return
      }
      let run!: RankRun
      const begun: Instance[] = []
      let begin = (instance: Instance): void => {
        begun.push(instance)
      }
      const progress = new PlanProgress(memory.plan, options.times, (instance) => begin(instance))
      run = {
        rank,
        memory,
        options,
        progress,
        resolve,
        reject,
        spans: [],
        start: performance.now(),
        settled: false,
      }
      begin = (instance) => this.#offer('begin', run, instance, () => this.#begin(run, instance))
      for (const instance of begun) begin(instance)
      this.#ranks.push(run)
      if (Number.isFinite(this.#limit)) progress.stopAt(this.#limit)
      if (options.signal?.aborted) this.#stop()
      options.signal?.addEventListener('abort', () => this.#stop(), { once: true })
      void this.#drive()
    })
  }

  /** The rank goes on no more. */
  end(rank: number, message: string): void {
    this.#ended.set(rank, message)
    const run = this.#ranks.find((each) => each.rank === rank)
    if (run === undefined || run.settled) return
    this.#fail(run, new GpuError('device-lost', message))
  }

  /** An abort: all ranks stop after the furthest repetition that any has begun. */
  #stop(): void {
    if (Number.isFinite(this.#limit)) return
    this.#limit = this.#ranks.reduce((most, { progress }) => Math.max(most, progress.admitted), 0)
    for (const { progress } of this.#ranks) progress.stopAt(this.#limit)
    void this.#drive()
  }

  async #drive(): Promise<void> {
    if (this.#driving) return
    this.#driving = true
    // Ranks join in the order of the event loop; nothing is decided before others had a chance to.
    await new Promise((resolve) => setTimeout(resolve, 0))
    let sliceEnd = performance.now() + sliceMilliseconds
    for (;;) {
      this.#settle()
      const action = this.#take()
      if (action === undefined) break
      try {
        action.act()
      } catch (error) {
        this.#fail(action.run, error)
      }
      if (performance.now() < sliceEnd) continue
      await new Promise((resolve) => setTimeout(resolve, 0))
      sliceEnd = performance.now() + sliceMilliseconds
    }
    this.#driving = false
    this.#reportDeadlock()
  }

  #reportDeadlock(): void {
    if (this.#ranks.length < this.#count || this.#ended.size > 0 || this.#failed) return
    for (const run of this.#ranks)
      if (!run.settled)
        this.#fail(
          run,
          new Error(`rank ${run.rank} waits in "${run.memory.plan.label}" and nothing can happen`),
        )
  }

  #settle(): void {
    for (const run of this.#ranks) {
      if (run.settled || !run.progress.finished) continue
      run.settled = true
      const { options, progress, spans, start } = run
      if (progress.completed < options.times) {
        const signal = options.signal?.aborted ? options.signal : AbortSignal.abort('another rank aborted')
        run.reject(abortedError(signal, progress.completed, options.times))
      } else {
        const seconds = (performance.now() - start) / 1000
        run.resolve({ seconds, clock: 'host', ...(options.profile && { spans }) })
      }
    }
  }

  #fail(run: RankRun, error: unknown): void {
    run.settled = true
    this.#failed = true
    this.#actions = this.#actions.filter((action) => action.run !== run)
    run.reject(error)
  }

  #offer(kind: Action['kind'], run: RankRun, instance: Instance, act: () => void): void {
    this.#actions.push({ kind, run, instance, act, priority: this.#priority(kind, run, instance) })
  }

  #priority(kind: Action['kind'], { rank }: RankRun, { command }: Instance): number {
    if (!this.#prioritized) return 0
    const key = `${kind} ${rank} ${command}`
    const known = this.#priorities.get(key)
    if (known !== undefined) return known
    const priority = this.#random()
    this.#priorities.set(key, priority)
    return priority
  }

  #take(): Action | undefined {
    const actions = this.#actions
    if (actions.length === 0) return undefined
    // The violated order first, then, for an adversary, arrivals as late as can be.
    const delays = actions.map((action) => this.#delay(action))
    const least = Math.min(...delays)
    const candidates = actions.filter((_, i) => delays[i] === least)
    let chosen = candidates[Math.floor(this.#random() * candidates.length)]!
    if (this.#prioritized)
      for (const candidate of candidates) if (candidate.priority > chosen.priority) chosen = candidate
    actions[actions.indexOf(chosen)] = actions.at(-1)!
    actions.pop()
    return chosen
  }

  #delay({ kind, run, instance }: Action): number {
    const { order, brokenRule } = this.#network
    // What completes too late is as bad for a removed edge as what begins too late.
    const deferred = isDeferred(run.memory.plan, run.progress, instance) ? 4 : 0
    const adversarial = order === 'adversarial' || brokenRule === 'source' || brokenRule === 'target'
    if (brokenRule === 'credit') return deferred + (isReceive(run, instance) ? 2 : 0)
    return deferred + (adversarial && kind === 'arrive' ? 2 : 0)
  }

  #begin(run: RankRun, instance: Instance): void {
    const { memory, progress, options } = run
    const command = memory.plan.commands[instance.command]!
    const startSeconds = (performance.now() - run.start) / 1000
    const finish = () => {
      if (options.profile && instance.repetition === options.times - 1)
        run.spans.push({
          ...instance,
          device: command.device,
          startSeconds,
          endSeconds: (performance.now() - run.start) / 1000,
        })
      progress.finish(instance)
    }
    if (command.kind !== 'send' && command.kind !== 'receive') {
      executeCommand(memory, command as PlanCommand)
      finish()
      return
    }
    const side = {
      repetition: instance.repetition,
      bytes: regionBytes(memory, command),
      complete: () => this.#offer('complete', run, instance, finish),
      completeNow: finish,
      arrives: (act: () => void) => this.#offer('arrive', run, instance, act),
    }
    if (command.kind === 'send') this.#messages.send(run.rank, command.peer, command, side)
    else this.#messages.receive(command.peer, run.rank, command, side)
  }
}

function isReceive({ memory }: RankRun, { command }: Instance): boolean {
  return memory.plan.commands[command]!.kind === 'receive'
}

/** The rows of a message's region; none for a message without bytes. */
function regionBytes(memory: PlanMemory, { region }: PlanMessage): Uint8Array[] {
  if (region === undefined) return []
  const { buffer, byteOffset, rowByteLength, rows, rowByteStride }: ByteRegion = region
  return Array.from({ length: rows }, (_, row) => {
    const start = byteOffset + row * rowByteStride
    return memory.buffers[buffer]!.subarray(start, start + rowByteLength)
  })
}
