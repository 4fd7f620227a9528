import { encodeNodes } from './graph-nodes.ts'
import type { GraphSet } from './lower-plan.ts'
import type { PhysicalGpus } from './physical-gpus.ts'

/** The number of sets of graphs that stay instantiated. A run needs at most five. */
export const keptGraphSets = 8

/** Graphs that start together. */
export interface GraphHandles {
  readonly ids: readonly number[]
  /** Rejects if the driver rejects a graph. */
  readonly ready: Promise<void>
  /** Less than `keptGraphSets`, and different from the slots of all other cached sets. */
  readonly slot: number
}

/**
 * The instantiated graphs of one program. If there are more than `keptGraphSets` sets, the least recently
 * used one is destroyed.
 */
export class GraphCache {
  readonly #physical: PhysicalGpus
  /** In order of use, the least recently used first. */
  readonly #sets = new Map<string, GraphHandles>()
  /** The number of sets that have been destroyed. */
  destroyed = 0
  readonly #freeSlots = Array.from({ length: keptGraphSets }, (_, slot) => slot)

  constructor(physical: PhysicalGpus) {
    this.#physical = physical
  }

  /**
   * Returns the set with that name; `lower` creates it at the first call. Instantiation is queued, so a run
   * may be queued immediately after.
   */
  get(name: string, lower: (slot: number) => GraphSet): GraphHandles {
    const known = this.#sets.get(name)
    if (known !== undefined) {
      this.#sets.delete(name)
      this.#sets.set(name, known)
      return known
    }
    const [oldest] = this.#sets.keys()
    if (this.#sets.size >= keptGraphSets && oldest !== undefined) this.drop(oldest)
    const slot = this.#freeSlots.at(-1)!
    const handles = { ...this.#instantiate(lower(slot)), slot }
    this.#freeSlots.pop()
    this.#sets.set(name, handles)
    // An incomplete set is useless. The next call tries again; memory may be available by then.
    handles.ready.catch(() => {
      if (this.#sets.get(name) === handles) this.drop(name)
    })
    return handles
  }

  /** Destroys a set, if it exists. */
  drop(name: string): void {
    const set = this.#sets.get(name)
    if (set === undefined) return
    for (const id of set.ids) this.#physical.native.destroyGraph(id)
    this.#freeSlots.push(set.slot)
    this.#sets.delete(name)
    this.destroyed += 1
  }

  /**
   * Called after a failed run: graphs that wait for each other may have started a different number of times,
   * so they are created again.
   */
  forgetSynchronised(): void {
    for (const [name, { ids }] of [...this.#sets]) if (ids.length > 1) this.drop(name)
  }

  clear(): void {
    for (const name of [...this.#sets.keys()]) this.drop(name)
  }

  #instantiate(set: GraphSet): Omit<GraphHandles, 'slot'> {
    const ids = set.map(() => this.#physical.nextId())
    const created = set.map(({ mainGpu, nodes }, index) =>
      this.#physical.native.createGraph(ids[index]!, mainGpu, encodeNodes(nodes)),
    )
    return { ids, ready: Promise.all(created).then(() => {}) }
  }
}
