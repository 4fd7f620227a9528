/** An instruction of PTX. */
interface Instruction {
  /** Whether ptxas may compute it again, with a constant in an operand added to the result instead. */
  readonly isLinear: boolean
  readonly targets: readonly string[]
  /** Without the predicate that controls its execution. */
  readonly sources: readonly string[]
  /** The register with the address in workgroup memory that it accesses. */
  readonly address: string | undefined
  readonly next: number[]
}

const withoutTarget = new Set(
  'bar barrier bra cp exit fence membar nanosleep red ret st trap wmma_store'.split(' '),
)
/** The modifiers of instructions that extend an operand. A constant in it cannot be added to the result instead. */
const extension = /\.wide\b|^\.[su]64\.[su](?:32|16|8)$|^\.[su]32\.[su](?:16|8)$/
/** Their results do not follow from their operands, so ptxas does not compute them again. */
const notComputed = new Set('activemask atom ld ldmatrix match mma redux shfl vote'.split(' '))
const computed = new Set(
  (
    'abs add and bfe bfi bfind brev clz copysign cos cvt cvta div dp4a ex2 fma fns lg2 lop3 mad max min mov mul ' +
    'neg not or popc prmt rcp rem rsqrt sad selp set setp shf shl shr sin slct sqrt sub szext tanh testp xor'
  ).split(' '),
)

/**
 * Whether PTX computes an address in workgroup memory from a register that has another value by the time of the
 * access. The compiler keeps a variable in one register before, in and after the loop in which it changes. ptxas
 * 13.0 may compute `b + 5` for an access after the loop, `wg[b + 5]`, where the access stands, of the register's
 * last value: it adds 20 to the address of `wg[b]`. nvcc's 32-bit addresses have this form; NVRTC extends indices
 * to 64 bits first, where the sum cannot be divided.
 *
 * Accepted is PTX of known instructions in which no path leads from an instruction that computes the address, or
 * a part of it that is not extended, through another definition of one of its operands, to the access, without
 * passing that instruction again.
 */
export function hasStaleAddresses(ptx: string): boolean {
  const bodies = ptx.split(/^\.visible \.entry /m).slice(1)
  return bodies.some((body) => {
    const instructions = instructionsOf(body)
    return instructions === undefined || isStale(instructions)
  })
}

/** The instructions of a kernel; undefined if one is not known. */
function instructionsOf(body: string): readonly Instruction[] | undefined {
  const instructions: (Instruction & { readonly jump: string | undefined; readonly goesOn: boolean })[] = []
  const labels = new Map<string, number>()
  const text = body.slice(body.indexOf('{') + 1).replace(/\/\/.*$/gm, '')
  for (const part of text.split(/[;\n]/)) {
    const line = part.trim()
    const label = /^(\$\w+):$/.exec(line)?.[1]
    if (label !== undefined) labels.set(label, instructions.length)
    const match = /^(@!?%p\d+\s+)?([a-z]\w*)(\S*)\s*(.*)$/.exec(line)
    if (match === null) continue
    const [, condition, word = '', modifiers = '', operands = ''] = match
    const name = word === 'wmma' ? (modifiers.startsWith('.store') ? 'wmma_store' : 'mma') : word
    if (!withoutTarget.has(name) && !notComputed.has(name) && !computed.has(name)) return undefined
    const first = withoutTarget.has(name) ? '' : (/^(?:\{[^}]*\}|[^,]*)/.exec(operands)?.[0] ?? '')
    // An address is no sum of predicates.
    const registers = (part: string) => part.match(/%(?!p\d)[a-z]+\d+/g) ?? []
    const reaches = /\.shared/.test(modifiers) || name === 'ldmatrix'
    instructions.push({
      isLinear: !notComputed.has(name) && !extension.test(modifiers),
      targets: registers(first),
      sources: registers(operands.slice(first.length)),
      address: reaches ? /\[\s*(%\w+)/.exec(operands)?.[1] : undefined,
      next: [],
      jump: name === 'bra' ? /\$\w+/.exec(operands)?.[0] : undefined,
      goesOn: condition !== undefined || !['bra', 'ret', 'exit', 'trap'].includes(name),
    })
  }
  for (const [i, { jump, goesOn, next }] of instructions.entries()) {
    const target = jump === undefined ? undefined : labels.get(jump)
    if (target !== undefined && target < instructions.length) next.push(target)
    if (goesOn && i + 1 < instructions.length) next.push(i + 1)
  }
  return instructions
}

function isStale(instructions: readonly Instruction[]): boolean {
  const definitions = new Map<string, number[]>()
  for (const [i, { targets }] of instructions.entries())
    for (const register of targets) {
      const known = definitions.get(register)
      if (known === undefined) definitions.set(register, [i])
      else known.push(i)
    }
  /** For each operand that changes, and the instruction in an address that uses it, the accesses. */
  const uses = new Map<
    string,
    { readonly at: number; readonly operand: string; readonly accesses: number[] }
  >()
  for (const [access, { address }] of instructions.entries()) {
    const parts = new Set(address === undefined ? [] : [address])
    for (const part of parts) {
      const [at, ...others] = definitions.get(part) ?? []
      if (at === undefined || others.length > 0 || !instructions[at]!.isLinear) continue
      for (const operand of instructions[at]!.sources) {
        if (definitions.get(operand)?.length === 1) parts.add(operand)
        else {
          const key = `${at} ${operand}`
          const use = uses.get(key) ?? { at, operand, accesses: [] }
          use.accesses.push(access)
          uses.set(key, use)
        }
      }
    }
  }
  return [...uses.values()].some(({ at, operand, accesses }) => {
    const changes = (definitions.get(operand) ?? []).filter((i) => i !== at)
    const before = reached(instructions, [at], at)
    const after = reached(
      instructions,
      changes.filter((i) => before[i] === 1),
      at,
    )
    return accesses.some((access) => after[access] === 1)
  })
}

/** By instruction, whether it can follow any of `starts` before `end` does. */
function reached(instructions: readonly Instruction[], starts: readonly number[], end: number): Uint8Array {
  const found = new Uint8Array(instructions.length)
  const work = starts.flatMap((i) => instructions[i]!.next)
  for (let i = work.pop(); i !== undefined; i = work.pop()) {
    if (i === end || found[i] === 1) continue
    found[i] = 1
    work.push(...instructions[i]!.next)
  }
  return found
}
