import { Random } from './random.ts'
import { arrayOf, bool, type RandomType, u32, vectorOf } from './random-types.ts'

const sizes = [
  [32, 1, 1],
  [32, 1, 1],
  [64, 1, 1],
  [128, 1, 1],
  [8, 8, 1],
  [4, 4, 4],
  [96, 1, 1],
  [256, 1, 1],
  [33, 1, 1],
  [7, 9, 1],
] as const
/** The approximate number of statements that the invocations of a workgroup may run together. */
const mostStatements = 1_000_000
/** The number of elements of the buffer `given`. */
export const givenLength = 96

export const vec3u = vectorOf('u32', 3)
export const words = arrayOf(u32, 8)
export const mixed: RandomType = {
  name: 'Mixed',
  members: [
    { name: 'w', type: u32 },
    { name: 'v', type: vec3u },
    { name: 'b', type: bool },
  ],
}
/** The types of parameters, results and variables. */
export const types = [u32, u32, u32, vec3u, bool, words, mixed]

export interface Named {
  /** The variable or value in an expression. */
  readonly name: string
  readonly type: RandomType
  readonly isMutable: boolean
  /** A pointer to the variable, if functions may be called with one, and its address space. */
  readonly pointer?: string
  readonly space?: 'function' | 'workgroup'
}

/** What the code at some point of the kernel may use. */
export interface Scope {
  /** Whether all invocations of the workgroup are here together; if so, they also leave it together. */
  readonly isUniform: boolean
  /** Whether `break` and `continue` are possible. */
  readonly isInLoop: boolean
  readonly mayReturn: boolean
  readonly named: Named[]
  /** Values and variables of type `u32` that are the same for all invocations of the workgroup. */
  readonly shared: Named[]
}

export interface Parameter {
  readonly type: RandomType
  /** A `shared` parameter of a team function is the same for all invocations of the workgroup. */
  readonly form: 'value' | 'shared' | 'function' | 'workgroup'
}

export interface Callable {
  readonly name: string
  readonly isTeam: boolean
  readonly parameters: readonly Parameter[]
  readonly result: RandomType
  /** The approximate number of statements that it runs. */
  readonly cost: number
}

export type Make = () => string

export const constant = (name: string, type: RandomType): Named => ({ name, type, isMutable: false })
export const variable = (name: string, type: RandomType): Named => ({
  name,
  type,
  isMutable: true,
  pointer: `&${name}`,
  space: 'function',
})
/** A variable to which there are no pointers, because functions use it by its name. */
export const place = (name: string): Named => ({ name, type: u32, isMutable: true })

/** The scope of code that only some invocations of the workgroup reach. */
export function divergent(scope: Scope): Scope {
  return scope.isUniform ? { ...scope, isUniform: false, isInLoop: false, mayReturn: false } : scope
}

/** Writes the expressions of kernels of team functions and free functions (`random-team-functions.ts`). */
export class RandomTeamExpressions extends Random {
  readonly size: readonly [number, number, number]
  readonly invocations: number
  readonly hasSubgroups: boolean
  readonly functions: Callable[] = []
  #names = 0
  /** The approximate number of statements that the function runs. */
  cost = 0
  /** The largest cost: a function runs at most a third of the kernel. */
  mostCost: number
  /** How often the code that is being written runs. */
  rounds = 1

  constructor(seed: number, hasSubgroups: boolean) {
    super(seed)
    this.size = this.pick(sizes)
    this.invocations = this.size[0] * this.size[1] * this.size[2]
    this.hasSubgroups = hasSubgroups
    this.mostCost = Math.floor(mostStatements / this.invocations / 3)
  }

  name(prefix: string): string {
    return `${prefix}_${this.#names++}`
  }

  choose(choices: readonly Make[]): string {
    return this.pick(choices)()
  }

  #literal(): string {
    return `${this.pick([0, 1, 2, 3, 5, 7, 13, 31, 32, 64, 255, 65_535, 2_147_483_648, 4_294_967_295])}u`
  }

  #operator(): string {
    return this.pick(['+', '+', '-', '*', '^', '^', '&', '|'])
  }

  #relation(): string {
    return this.pick(['<', '>', '==', '!=', '>=', '<='])
  }

  /** A value that is the same for all invocations of the workgroup. */
  shared(scope: Scope, depth: number): string {
    const less = () => this.shared(scope, depth - 1)
    const names = scope.shared.map((v) => v.name)
    const name = () =>
      this.pick([...names, 'limits[0].x', 'limits[1].z', 'limits[2].w', `given[${this.below(8)}]`])
    if (depth <= 0) return this.oneIn(5) ? this.#literal() : name()
    return this.choose([
      name,
      name,
      () => `(${less()} ${this.#operator()} ${less()})`,
      () => `given[${less()} % ${givenLength}u]`,
      () => `select(${less()}, ${less()}, ${this.sharedCondition(scope, depth - 1)})`,
      () => `limits[${less()} & 3u].${this.pick(['x', 'y', 'z', 'w'])}`,
      () => `(${name()} ${this.pick(['/', '%', '>>', '<<'])} ${this.pick([2, 3, 5, 7])}u)`,
    ])
  }

  sharedCondition(scope: Scope, depth: number): string {
    return `(${this.shared(scope, depth)} ${this.#relation()} ${this.shared(scope, depth)})`
  }

  /** One of the variables and values, as a `u32`. */
  leaf(scope: Scope): string {
    const { name, type } = this.pick(scope.named)
    return this.read(name, type)
  }

  /** A scalar in a value, as a `u32`. */
  read(text: string, type: RandomType): string {
    if (type.members !== undefined) {
      const member = this.pick(type.members)
      return this.read(`${text}.${member.name}`, member.type)
    }
    if (type.element !== undefined) return `${text}[${this.index('lid')}]`
    if (type === bool) return `u32(${text})`
    if (type === u32) return text
    return this.pick([`${text}.x`, `${text}.z`, `dot(${text}, vec3u(1u, 3u, 5u))`])
  }

  /** An index of an array of 8 words. */
  index(word: string): string {
    return this.pick([`${this.below(8)}`, `${word} & 7u`, `(${word} >> ${this.below(20)}u) & 7u`])
  }

  word(scope: Scope, depth: number): string {
    if (depth <= 0) return this.oneIn(6) ? this.#literal() : this.leaf(scope)
    const less = () => this.word(scope, depth - 1)
    const leaf = () => this.leaf(scope)
    const binary = () => `(${less()} ${this.#operator()} ${less()})`
    const call = () => this.callOf(scope, u32, depth) ?? leaf()
    const choices = [
      ...[leaf, leaf, binary, binary, binary, call, call, call],
      () => `(${leaf()} ${this.pick(['/', '%', '>>', '<<'])} ${this.pick([3, 5, 7, 13, 31])}u)`,
      () => `select(${less()}, ${less()}, ${this.condition(scope, depth - 1)})`,
      () => this.shared(scope, depth - 1),
      () => `given[${less()} % ${givenLength}u]`,
      () => `${this.pick(['countOneBits', 'reverseBits', 'firstLeadingBit'])}(${less()})`,
      () => `${this.pick(['min', 'max'])}(${less()}, ${less()})`,
      () => `extractBits(${less()}, 3u, 9u)`,
    ]
    const operation = () => this.#subgroup(scope, depth - 1)
    if (scope.isUniform && this.hasSubgroups) choices.push(...Array<Make>(5).fill(operation))
    return this.choose(choices)
  }

  #subgroup(scope: Scope, depth: number): string {
    const value = () => this.word(scope, depth)
    const condition = () => this.condition(scope, depth)
    const reductions = ['Add', 'Add', 'Max', 'Min', 'Xor', 'Or', 'And', 'Mul']
    const others = ['InclusiveAdd', 'InclusiveAdd', 'ExclusiveAdd', 'BroadcastFirst', 'BroadcastFirst']
    const choices: Make[] = [
      () => `subgroup${this.pick(reductions)}(${value()})`,
      () => `subgroup${this.pick(others)}(${value()})`,
      () => `subgroupBallot(${condition()}).x`,
      () => `select(${value()}, ${value()}, ${this.pick(['subgroupAny', 'subgroupAll'])}(${condition()}))`,
      () => `select(5u, ${value()}, subgroupElect())`,
    ]
    // In the last subgroup of another workgroup some lanes do not exist.
    if (this.invocations % 32 === 0)
      choices.push(
        () => `subgroupShuffle(${value()}, ${value()} & 31u)`,
        () => `subgroupShuffle(${value()}, ${value()} & 31u)`,
        () => `dot(subgroupShuffle(vec3u(${value()}, 1u, ${value()}), ${value()} & 31u), vec3u(1u, 3u, 5u))`,
        () => `subgroupShuffleXor(${value()}, ${this.below(32)}u)`,
        () => `subgroupBroadcast(${value()}, ${this.below(32)}u)`,
        () => `quadSwap${this.pick(['X', 'Y', 'Diagonal'])}(${value()})`,
        () => `quadBroadcast(${value()}, ${this.below(4)}u)`,
      )
    return this.choose(choices)
  }

  condition(scope: Scope, depth: number): string {
    const word = () => this.word(scope, depth - 1)
    const compared = () => `(${word()} ${this.#relation()} ${word()})`
    const flags = scope.named.filter((v) => v.type === bool)
    return this.choose([
      ...[compared, compared, compared],
      () => (flags.length === 0 ? compared() : this.pick(flags).name),
      () => `((${this.leaf(scope)} & ${1 << this.below(5)}u) ${this.pick(['==', '!='])} 0u)`,
      () => `(i32(${word()}) ${this.#relation()} i32(${word()}))`,
      () => {
        if (depth <= 0) return compared()
        const right = this.condition(divergent(scope), depth - 1)
        return `(${this.condition(scope, depth - 1)} ${this.pick(['&&', '||'])} ${right})`
      },
    ])
  }

  value(scope: Scope, type: RandomType, depth: number): string {
    if (type === u32) return this.word(scope, depth)
    const own = scope.named.filter((v) => v.type === type)
    if (own.length > 0 && this.oneIn(2)) return this.pick(own).name
    const call = depth > 0 && this.oneIn(3) ? this.callOf(scope, type, depth) : undefined
    if (call !== undefined) return call
    if (type === bool) return this.condition(scope, depth)
    const parts = type.members?.map((m) => m.type) ?? Array<RandomType>(type.length ?? type.size!).fill(u32)
    return `${type.name}(${parts.map((part) => this.value(scope, part, depth - 1)).join(', ')})`
  }

  /** The functions that may be called here. */
  callable(scope: Scope): Callable[] {
    return this.functions.filter((f) => scope.isUniform || !f.isTeam)
  }

  /** A call of a function with this result. */
  callOf(scope: Scope, type: RandomType, depth: number): string | undefined {
    const possible = this.callable(scope).filter((f) => f.result === type)
    return possible.length === 0 ? undefined : this.call(scope, this.pick(possible), depth)
  }

  /** A call; undefined if the function runs too long, or if there are no variables to point to. */
  call(scope: Scope, { name, parameters, cost }: Callable, depth: number): string | undefined {
    if (this.cost + this.rounds * cost > this.mostCost) return undefined
    const changed: Named[] = []
    for (const { form, type } of parameters.filter((p) => p.form === 'function' || p.form === 'workgroup')) {
      const possible = scope.named.filter((v) => v.space === form && v.type === type && !changed.includes(v))
      if (possible.length === 0) return undefined
      changed.push(this.pick(possible))
    }
    this.cost += this.rounds * cost
    const given = parameters.map(({ form, type }) => {
      if (form === 'value') return this.value(scope, type, Math.min(1, depth - 1))
      if (form === 'shared') return scope.isUniform ? this.shared(scope, 1) : this.word(scope, 0)
      return changed.shift()!.pointer!
    })
    return `${name}(${[...given, 'lid', 'mine'].join(', ')})`
  }
}
