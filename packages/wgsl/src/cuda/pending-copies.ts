import type { Assign, For, ModuleVariable } from '../ir.ts'

/** A copy that may be under way. */
export interface PendingCopy {
  readonly copy: Assign
  readonly variable: ModuleVariable
  /** The statement and the calls in which it stands. */
  readonly site: string
  /** The elements, when two copies of equal signature can be compared; undefined: any. */
  readonly signature: string | undefined
  readonly offsets: readonly number[]
  /** Ids of lets and variables; when one is set anew, the signature means other elements. */
  readonly depends: ReadonlySet<number>
  /** The outermost of the counted loops that are not left yet, whose repetitions `offsets` holds. */
  readonly loop: For | undefined
}

/** What can be on some path since the last barrier. */
export class CopyState {
  readonly accessed: Set<ModuleVariable>
  readonly #pending: Map<string, PendingCopy>

  constructor(states: readonly CopyState[] = []) {
    this.accessed = new Set(states.flatMap((s) => [...s.accessed]))
    this.#pending = new Map(states.flatMap((s) => [...s.#pending]))
  }

  get pending(): Iterable<PendingCopy> {
    return this.#pending.values()
  }

  get isPending(): boolean {
    return this.#pending.size > 0
  }

  /** Grows when something is added that was not there. */
  get size(): number {
    return this.#pending.size + this.accessed.size
  }

  fork(): CopyState {
    return new CopyState([this])
  }

  add(copy: PendingCopy): void {
    this.#pending.set(keyOf(copy), copy)
  }

  /** A let or variable has another value from now on. */
  setAnew(id: number): void {
    this.#change((p) => (p.depends.has(id) ? { ...p, signature: undefined } : p))
  }

  /** Marks copies of loops that are left: another run of the loop meets them as any copy does. */
  closeLoops(outermost: For | undefined): void {
    this.#change((p) => (p.loop === outermost ? p : { ...p, loop: undefined }))
  }

  #change(to: (p: PendingCopy) => PendingCopy): void {
    for (const [key, p] of [...this.#pending]) {
      const changed = to(p)
      if (changed === p) continue
      this.#pending.delete(key)
      this.add(changed)
    }
  }
}

/** What can be where two paths meet; undefined where control does not come. */
export function joined(a: CopyState | undefined, b: CopyState | undefined): CopyState | undefined {
  const states = [a, b].filter((s) => s !== undefined)
  return states.length === 0 ? undefined : new CopyState(states)
}

/** Do two copies into one variable always write different elements? */
export function areApart(before: PendingCopy, now: PendingCopy): boolean {
  if (before.signature === undefined || before.signature !== now.signature) return false
  const elements = new Set(before.offsets)
  // Itself, in another repetition of the loops around it.
  const isItself = before.site === now.site && before.loop === now.loop
  if (isItself && now.loop !== undefined) return elements.size === before.offsets.length
  return now.offsets.every((o) => !elements.has(o))
}

/** What is alike in all that is known of it is one copy. A site has one outermost counted loop. */
function keyOf({ site, signature, offsets, loop }: PendingCopy): string {
  return `${site} ${signature} ${offsets.join()} ${loop !== undefined}`
}
