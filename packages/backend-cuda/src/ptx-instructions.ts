/** An instruction of PTX. */
export interface PtxInstruction {
  /** For example `setp`, and for the stores among `wmma` `wmma_store`. */
  readonly name: string
  /** For example `.lt.and.u32`. */
  readonly modifiers: string
  /** The predicate that controls its execution. */
  readonly condition: string | undefined
  /** Whether it is executed if the predicate is false. */
  readonly isNegated: boolean
  readonly operands: string
  /** What it sets, with names such as `_` for what nothing reads. */
  readonly results: readonly string[]
  /** What it takes, for example `%r1`, `-2`, `{%r1, %r2}` or `[%rd1+4]`. */
  readonly inputs: readonly string[]
  readonly targets: readonly string[]
  /** The registers that it reads, without `condition`. */
  readonly sources: readonly string[]
  /** The register with the address in workgroup memory that it accesses. */
  readonly address: string | undefined
  /** Whether it is not the compiler's, but stands in the source. */
  readonly isInline: boolean
  /** The instructions that may follow. */
  readonly next: readonly number[]
}

const withoutTarget = new Set(
  'bar barrier bra cp exit fence membar nanosleep red ret st trap wmma_store'.split(' '),
)
/** Their results do not follow from their operands. */
const notComputed = new Set('activemask atom ld ldmatrix match mma redux shfl vote'.split(' '))
const computed = new Set(
  (
    'abs add and bfe bfi bfind brev clz copysign cos cvt cvta div dp4a ex2 fma fns lg2 lop3 mad max min mov mul ' +
    'neg not or popc prmt rcp rem rsqrt sad selp setp shf shl shr sin slct sqrt sub szext tanh testp xor'
  ).split(' '),
)

/** Whether the result of an instruction follows from its operands. */
export function isComputed({ name }: PtxInstruction): boolean {
  return computed.has(name)
}

/** Whether an instruction sets a register to a literal, or to the address of a variable. */
export function isLiteralMove({ name, operands }: PtxInstruction): boolean {
  return name === 'mov' && !/,.*%/.test(operands)
}

/** Whether an instruction computes in assembler, so that only ptxas may know its result. */
export function isHidden({ name, isInline }: PtxInstruction): boolean {
  return isInline && name !== 'mov' && computed.has(name)
}

/** The compiler's predicates are `%p1` and so on, and those in the prelude `%p` and `%q`. */
export function isPredicate(register: string): boolean {
  return /^%(?:p\d+|[pq] \d+)$/.test(register)
}

export interface PtxLoop {
  /** The first instruction. */
  readonly start: number
  readonly body: ReadonlySet<number>
}

/** The instructions of a kernel, and by register which of them set it or read it. */
export class PtxKernel {
  readonly instructions: readonly PtxInstruction[]
  /** Whether it has only known instructions, so no calls for example. Of others it is only known what may follow. */
  readonly isKnown: boolean
  /** The first instructions of loops that ptxas must not unroll. */
  readonly markedLoops: ReadonlySet<number>
  /** The instructions that set a register. */
  readonly definitions: ReadonlyMap<string, readonly number[]>
  /** The instructions that read a register, also those whose execution it controls. */
  readonly readers: ReadonlyMap<string, readonly number[]>

  constructor(text: string) {
    const { instructions, isKnown, markedLoops } = instructionsOf(text)
    this.instructions = instructions
    this.markedLoops = markedLoops
    this.isKnown = isKnown
    this.definitions = byRegister(instructions, ({ targets }) => targets)
    this.readers = byRegister(instructions, ({ condition, sources }) =>
      condition === undefined ? sources : [condition, ...sources],
    )
  }

  /** Whether registers may have their values from an instruction that `is` accepts. */
  hasOrigin(registers: readonly string[], is: (origin: PtxInstruction) => boolean): boolean {
    for (const origin of this.originsOf(registers)) if (is(origin)) return true
    return false
  }

  /**
   * The instructions from which registers may have their values: those that set them, and those that set the operands
   * of what is computed, if `follows` accepts these.
   */
  *originsOf(
    registers: readonly string[],
    follows?: (register: string) => boolean,
  ): Generator<PtxInstruction> {
    for (const part of this.partsOf(registers, follows))
      for (const i of this.definitions.get(part) ?? []) yield this.instructions[i]!
  }

  /** Registers, and those from which they are computed, if `follows` accepts these. */
  *partsOf(
    registers: readonly string[],
    follows: (register: string) => boolean = () => true,
  ): Generator<string> {
    const parts = new Set(registers.filter(follows))
    for (const part of parts) {
      yield part
      for (const i of this.definitions.get(part) ?? [])
        if (isComputed(this.instructions[i]!))
          for (const source of this.instructions[i]!.sources.filter(follows)) parts.add(source)
    }
  }

  /** The instructions that set registers. */
  definedBy(registers: Iterable<string>): PtxInstruction[] {
    return [...registers].flatMap((register) =>
      (this.definitions.get(register) ?? []).map((i) => this.instructions[i]!),
    )
  }

  /**
   * Registers, and those of which they may be copies, also by operations that others undo, such as `not`, or the operands
   * of instructions that `follows` accepts.
   */
  copiedBy(
    registers: readonly string[],
    follows: (instruction: PtxInstruction) => boolean = () => false,
  ): ReadonlySet<string> {
    const copied = new Set(registers)
    for (const register of copied)
      for (const instruction of this.definedBy([register])) {
        const sources = instruction.sources.filter((source) => !isPredicate(source))
        const isCopy = instruction.name === 'mov' || (sources.length === 1 && isComputed(instruction))
        if (isCopy || follows(instruction)) for (const source of sources) copied.add(source)
      }
    return copied
  }

  /** The loops. */
  *loops(): Generator<PtxLoop> {
    const { instructions } = this
    const before = instructions.map((): number[] => [])
    for (const [i, { next }] of instructions.entries()) for (const later of next) before[later]!.push(i)
    const ends = new Map<number, number[]>()
    /** 1 on the way to an instruction, and 2 after all that follow from it. */
    const state = new Uint8Array(instructions.length)
    const path = instructions.length > 0 ? [0] : []
    for (let i = path.at(-1); i !== undefined; i = path.at(-1)) {
      if (state[i] === 0) {
        state[i] = 1
        for (const later of instructions[i]!.next)
          if (state[later] === 0) path.push(later)
          else if (state[later] === 1) ends.set(later, [...(ends.get(later) ?? []), i])
      } else {
        state[i] = 2
        path.pop()
      }
    }
    for (const [start, last] of ends) {
      const body = new Set([start, ...last])
      for (const i of body) if (i !== start) for (const earlier of before[i]!) body.add(earlier)
      yield { start, body }
    }
  }

  /** By instruction, whether it can follow any of `starts` with none of `ends` in between. */
  reached(starts: readonly number[], ends: readonly number[]): Uint8Array {
    const { instructions } = this
    const found = new Uint8Array(instructions.length)
    const isEnd = new Uint8Array(instructions.length)
    for (const end of ends) isEnd[end] = 1
    const work = starts.flatMap((i) => instructions[i]!.next)
    for (let i = work.pop(); i !== undefined; i = work.pop())
      while (i !== undefined && found[i] === 0) {
        found[i] = 1
        if (isEnd[i] === 1) break
        const { next }: PtxInstruction = instructions[i]!
        if (next.length > 1) work.push(next[1]!)
        i = next[0]
      }
    return found
  }
}

/** Each kernel, with functions behind it. Functions before the first kernel are left out. */
export function kernelsOf(ptx: string): PtxKernel[] {
  return ptx
    .split(/^\.visible \.entry /m)
    .slice(1)
    .map((text) => new PtxKernel(text))
}

function instructionsOf(body: string): {
  readonly instructions: readonly PtxInstruction[]
  readonly isKnown: boolean
  readonly markedLoops: ReadonlySet<number>
} {
  const instructions: (Omit<PtxInstruction, 'next'> & {
    readonly next: number[]
    readonly jump: string | undefined
  })[] = []
  const labels = new Map<string, number>()
  const markedLoops = new Set<number>()
  let isKnown = true
  /** The registers of the prelude's instructions have names of one letter, and belong to their braces. */
  let braces = 0
  const named = (register: string) => (register.length === 2 ? `${register} ${braces}` : register)
  const registers = (part: string) => (part.match(/%\w+/g) ?? []).map(named)
  const withNames = (part: string) => part.replaceAll(/%\w+/g, named)
  let isInline = false
  const text = body
    .slice(body.indexOf('{') + 1)
    .replace(/\/\/ (begin|end) inline asm$/gm, '.$1')
    .replace(/\/\/.*$/gm, '')
  for (const part of text.split(/[;\n]/)) {
    const line = part.trim()
    const label = /^(\$\w+):$/.exec(line)?.[1]
    if (label !== undefined) labels.set(label, instructions.length)
    if (line === '.pragma "nounroll"') markedLoops.add(instructions.length)
    if (line.startsWith('{')) braces++
    if (line === '.begin' || line === '.end') isInline = line === '.begin'
    // Directives, braces and data.
    if (label !== undefined || /^(?:$|[.{}()\d])/.test(line)) continue
    const match = /^(?:@(!?)(%\w+)\s+)?([a-z]\w*)(\S*)\s*(.*)$/.exec(line)
    if (match === null) {
      isKnown = false
      continue
    }
    const [, negation, condition, word = '', modifiers = '', operands = ''] = match
    const name = word === 'wmma' ? (modifiers.startsWith('.store') ? 'wmma_store' : 'mma') : word
    isKnown &&= withoutTarget.has(name) || notComputed.has(name) || computed.has(name)
    const first = withoutTarget.has(name) ? '' : (/^(?:\{[^}]*\}|[^,]*)/.exec(operands)?.[0] ?? '')
    const reaches = /\.shared/.test(modifiers) || name === 'ldmatrix'
    instructions.push({
      name,
      modifiers,
      condition: condition && named(condition),
      isNegated: negation === '!',
      operands,
      results: (first.match(/[^{},|\s]+/g) ?? []).map(withNames),
      inputs: (operands.slice(first.length).match(/\{[^}]*\}|\[[^\]]*\]|[^,\s][^,]*/g) ?? []).map((input) =>
        withNames(input.trim()),
      ),
      targets: registers(first),
      sources: registers(operands.slice(first.length)),
      address: reaches ? /\[\s*(%\w+)/.exec(operands)?.[1] : undefined,
      isInline,
      next: [],
      jump: name === 'bra' ? /\$\w+/.exec(operands)?.[0] : undefined,
    })
  }
  for (const [i, { name, condition, jump, next }] of instructions.entries()) {
    const target = jump === undefined ? undefined : labels.get(jump)
    if (target !== undefined && target < instructions.length) next.push(target)
    const goesOn = condition !== undefined || !['bra', 'ret', 'exit', 'trap'].includes(name)
    if (goesOn && i + 1 < instructions.length) next.push(i + 1)
  }
  return { instructions, isKnown, markedLoops }
}

function byRegister(
  instructions: readonly PtxInstruction[],
  registersOf: (instruction: PtxInstruction) => readonly string[],
): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>()
  for (const [i, instruction] of instructions.entries())
    for (const register of registersOf(instruction)) {
      const known = found.get(register)
      if (known === undefined) found.set(register, [i])
      else known.push(i)
    }
  return found
}
