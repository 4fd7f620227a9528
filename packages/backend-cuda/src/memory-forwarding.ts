import type { PtxKernel } from './ptx-instructions.ts'
import { compared, type Fact, literal, product, resized, sum, unknown } from './value-facts.ts'
import type { Address, ValueNumbers } from './value-numbers.ts'

/** A register that is stored or loaded. */
export interface Part {
  /** The instruction. */
  readonly at: number
  readonly operand: string
}

export interface ForwardedValues {
  /** By register that is loaded, what may stand there, as earlier instructions stored or loaded it. */
  readonly sourcesOf: ReadonlyMap<string, readonly Part[]>
  /** By store, the loads after it. */
  readonly loadsOf: ReadonlyMap<number, readonly number[]>
}

interface Access extends Part {
  readonly isLoad: boolean
  /** The address, its space and the width. */
  readonly place: string
  readonly space: string
  readonly address: Address
  readonly bytes: number
}

/**
 * The loads that give what the kernel has stored at the same address, or loaded from it, before, whichever way it came. In between
 * there is no store that may go there, and, but for a thread's own memory, no barrier, atomic operation or volatile access.
 *
 * @param factOf - What is known of a register.
 */
export function forwardedValues(
  kernel: PtxKernel,
  numbers: ValueNumbers,
  factOf: (register: string) => Fact | undefined,
): ForwardedValues {
  const { instructions } = kernel
  const accesses = accessesOf(kernel, numbers)
  const sourcesOf = new Map<string, readonly Part[]>()
  const loadsOf = new Map<number, number[]>()
  const counts = new Map<string, number>()
  for (const { place } of accesses) counts.set(place, (counts.get(place) ?? 0) + 1)
  const candidates = accesses.filter(({ isLoad, place }) => isLoad && counts.get(place)! > 1)
  if (candidates.length === 0) return { sourcesOf, loadsOf }
  const before = instructions.map((): number[] => [])
  for (const [at, { next }] of instructions.entries()) for (const later of next) before[later]!.push(at)
  const accessesAt = new Map<number, Access[]>()
  for (const access of accesses) accessesAt.set(access.at, [...(accessesAt.get(access.at) ?? []), access])
  const isFence = instructions.map(
    ({ name, modifiers }) => /^(?:atom|bar|barrier|fence|membar|red)$/.test(name) || isVolatile(modifiers),
  )
  for (const load of candidates) {
    const isOwn = load.space === '.local'
    const found: Access[] = []
    const seen = new Set<number>()
    const work = [load.at]
    let isForwarded = true
    for (let at = work.pop(); at !== undefined && isForwarded; at = work.pop()) {
      if (at === 0) isForwarded = isOwn
      for (const earlier of before[at]!) {
        if (seen.has(earlier)) continue
        seen.add(earlier)
        const there = accessesAt.get(earlier) ?? []
        const same = there.find(({ place }) => place === load.place)
        const mayChange = () => there.some((access) => mayOverlap(access, load, numbers, factOf))
        if (same !== undefined) found.push(same)
        else if ((!isOwn && isFence[earlier]) || mayChange()) isForwarded = false
        else work.push(earlier)
      }
    }
    const sources = found.filter(({ at }) => at !== load.at)
    if (!isForwarded || sources.length === 0) continue
    sourcesOf.set(load.operand, sources)
    for (const { at, isLoad } of sources) if (!isLoad) loadsOf.set(at, [...(loadsOf.get(at) ?? []), load.at])
  }
  return { sourcesOf, loadsOf }
}

function accessesOf({ instructions }: PtxKernel, numbers: ValueNumbers): Access[] {
  return instructions.flatMap(({ name, modifiers, results, inputs }, at) => {
    if ((name !== 'ld' && name !== 'st') || isVolatile(modifiers)) return []
    const space = /\.(?:shared|local|global|param)/.exec(modifiers)?.[0] ?? ''
    const bytes = Number(/\d+$/.exec(modifiers)?.[0]) / 8
    const [place = '', stored = ''] = inputs
    const { factors, constant } = numbers.addressOf(place)
    const operands = name === 'ld' ? results : (stored.match(/[^{},\s]+/g) ?? [])
    const variable = [...factors].flat().join(' ')
    return operands.map((operand, part) => {
      const address = { factors, constant: constant + BigInt(part * bytes) }
      const plain = { at, operand, isLoad: name === 'ld', space, address, bytes }
      return { ...plain, place: `${space} ${variable} ${address.constant} ${bytes}` }
    })
  })
}

function isVolatile(modifiers: string): boolean {
  return /\.(?:acquire|mmio|relaxed|release|volatile)/.test(modifiers)
}

/** Whether an access may store some of the bytes that another loads. */
function mayOverlap(
  store: Access,
  load: Access,
  numbers: ValueNumbers,
  factOf: (register: string) => Fact | undefined,
): boolean {
  if (store.isLoad || (store.space !== load.space && store.space !== '')) return false
  const leaves = new Map(store.address.factors)
  for (const [leaf, factor] of load.address.factors) leaves.set(leaf, (leaves.get(leaf) ?? 0n) - factor)
  const others = [...leaves].filter(([, factor]) => factor !== 0n)
  // Different variables.
  const variables = others.filter(([leaf]) => numbers.isVariable(leaf))
  if (variables.some(([, factor]) => factor > 0n) && variables.some(([, factor]) => factor < 0n)) return false
  const distance = others
    .map(([leaf, factor]) => {
      const register = numbers.registerOf(leaf)
      const known = register === undefined ? undefined : factOf(register)
      return product(literal(64, factor), known === undefined ? unknown(64) : resized(known, 64, false))
    })
    .reduce(sum, literal(64, store.address.constant - load.address.constant))
  for (let bytes = 1 - store.bytes; bytes < load.bytes; bytes++)
    if (compared('eq', false, distance, literal(64, BigInt(bytes))) !== false) return true
  return false
}
