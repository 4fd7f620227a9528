import { isComputed, type PtxInstruction, type PtxKernel, type PtxLoop } from './ptx-instructions.ts'

/** Sums of a few numbers below do not overflow. */
const small = 2 ** 28

/**
 * Whether ptxas may unroll a loop that counts. ptxas 13.0 unrolls loops by four and computes wrongly how many rounds
 * are left, on all architectures: as if nothing overflowed, and from `x` where the loop ends at `-x`. So the translator
 * lets nvcc unroll loops, which marks all of them for ptxas, but loses the marks of some nested loops, and adds loops.
 *
 * Accepted are loops that are marked or contain one that is, since ptxas unrolls innermost loops only, those that count
 * from a small literal to another by a third, as where nvcc copies arrays, and those that do not end at a comparison of an
 * integer that each round computes from its last value and from nothing else that changes.
 */
export function mayUnrollCounts(kernel: PtxKernel): boolean {
  const loops = [...kernel.loops()]
  const marked = loops.filter(({ start }) => kernel.markedLoops.has(start))
  return loops.some((loop) => !marked.some(({ start }) => loop.body.has(start)) && isCounted(loop, kernel))
}

function isCounted({ start, body }: PtxLoop, kernel: PtxKernel): boolean {
  const { instructions, definitions, readers } = kernel
  const inside = (register: string) =>
    (definitions.get(register) ?? []).filter((i) => body.has(i)).map((i) => instructions[i]!)
  const changed = new Set([...body].flatMap((i) => instructions[i]!.targets))
  const isSame = (register: string): boolean => {
    const [only, ...others] = inside(register)
    return (
      others.length === 0 &&
      only!.condition === undefined &&
      isComputed(only!) &&
      !only!.sources.some((source) => changed.has(source))
    )
  }
  for (let size = 0; size !== changed.size; ) {
    size = changed.size
    for (const register of changed) if (isSame(register)) changed.delete(register)
  }
  const ends = [...body].filter((i) => instructions[i]!.next.includes(start))
  /** Whether a round may read what the register held at its start. */
  const isCarried = (register: string): boolean => {
    const later = kernel.reached(
      ends,
      definitions.get(register)!.filter((i) => instructions[i]!.condition === undefined),
    )
    return readers.get(register)!.some((i) => later[i] === 1 && body.has(i))
  }
  const isCounter = (register: string): boolean => {
    const origins = new Set<string>()
    const addOrigins = (part: string): void => {
      for (const { sources } of inside(part)) {
        const [origin, ...others] = new Set(sources.filter((source) => changed.has(source)))
        if (origin === part && !isCarried(part)) continue
        if (origin !== undefined && others.length === 0) origins.add(origin)
      }
    }
    addOrigins(register)
    for (const origin of origins) addOrigins(origin)
    return origins.has(register)
  }
  const isLiteral = (operand: string): boolean => {
    const [only, ...others] = definitions.get(operand) ?? []
    if (only === undefined || others.length > 0) return isSmall(operand)
    return instructions[only]!.name === 'mov' && isSmall(lastOf(instructions[only]!))
  }
  const countsLiterals = (register: string): boolean =>
    definitions.get(register)!.every((i) => {
      const { name, operands } = instructions[i]!
      const [, first = '', last = ''] = operands.split(/,\s*/)
      return body.has(i)
        ? name === 'add' && first === register && isSmall(last)
        : name === 'mov' && isLiteral(first)
    })
  const exits = [...body]
    .map((i) => instructions[i]!)
    .filter(({ name, next }) => name === 'bra' && !next.every((i) => body.has(i)))
    .flatMap(({ condition }) => condition ?? [])
  return [...kernel.originsOf(exits)].some((instruction) => {
    const { name, modifiers, sources } = instruction
    if (name !== 'setp' || /\.b?f/.test(modifiers)) return false
    const isOfLiterals = sources.length === 1 && isSmall(lastOf(instruction))
    return sources.some((source) => isCounter(source) && !(isOfLiterals && countsLiterals(source)))
  })
}

/** The last operand. */
function lastOf({ operands }: PtxInstruction): string {
  return operands.replace(/^.*,\s*/, '')
}

function isSmall(operand: string): boolean {
  return /^\d+$/.test(operand) && Number(operand) < small
}
