import type { PtxKernel } from './ptx-instructions.ts'
import { compared, type Fact, literal, product, resized, sum, unknown } from './value-facts.ts'
import type { Address, ValueNumbers } from './value-numbers.ts'

export interface StoredPart {
  /** The instruction. */
  readonly at: number
  readonly operand: string
}

export interface ForwardedStores {
  /** By load and register, what may have been stored where the register is loaded from. */
  readonly storesOf: ReadonlyMap<number, ReadonlyMap<string, readonly StoredPart[]>>
  /** By store, the loads after it. */
  readonly loadsOf: ReadonlyMap<number, readonly number[]>
}

interface Access extends StoredPart {
  readonly isLoad: boolean
  readonly space: string
  readonly address: Address
  readonly bytes: number
}

/**
 * The loads that give what the kernel has stored at the same address before, whichever way it came. In between there is no store
 * that may go there, and, but for a thread's own memory, no barrier, atomic operation or volatile access.
 *
 * @param factOf - What is known of a register.
 */
export function forwardedStores(
  kernel: PtxKernel,
  numbers: ValueNumbers,
  factOf: (register: string) => Fact | undefined,
): ForwardedStores {
  const { instructions } = kernel
  const accesses = accessesOf(kernel, numbers)
  const stored = new Set(accesses.filter(({ isLoad }) => !isLoad).map(placeOf))
  const storesOf = new Map<number, Map<string, readonly StoredPart[]>>()
  const loadsOf = new Map<number, number[]>()
  const candidates = accesses.filter((access) => access.isLoad && stored.has(placeOf(access)))
  if (candidates.length === 0) return { storesOf, loadsOf }
  const before = instructions.map((): number[] => [])
  for (const [at, { next }] of instructions.entries()) for (const later of next) before[later]!.push(at)
  const storesAt = instructions.map((): Access[] => [])
  for (const access of accesses) if (!access.isLoad) storesAt[access.at]!.push(access)
  const isFence = (at: number) =>
    /^(?:atom|bar|barrier|fence|membar|red)$/.test(instructions[at]!.name) ||
    isVolatile(instructions[at]!.modifiers)
  for (const load of candidates) {
    const isOwn = load.space === '.local'
    const found: StoredPart[] = []
    const seen = new Set<number>()
    const work = [load.at]
    let isForwarded = true
    for (let at = work.pop(); at !== undefined && isForwarded; at = work.pop()) {
      if (at === 0) isForwarded = isOwn
      for (const earlier of before[at]!) {
        if (seen.has(earlier)) continue
        seen.add(earlier)
        const stores = storesAt[earlier]!.filter(({ space }) => space === load.space || space === '')
        const same = stores.find((store) => placeOf(store) === placeOf(load))
        if (same !== undefined) found.push(same)
        else if (
          (!isOwn && isFence(earlier)) ||
          stores.some((store) => mayOverlap(store, load, numbers, factOf))
        )
          isForwarded = false
        else work.push(earlier)
      }
    }
    if (!isForwarded || found.length === 0) continue
    storesOf.set(load.at, (storesOf.get(load.at) ?? new Map()).set(load.operand, found))
    for (const { at } of found) loadsOf.set(at, [...(loadsOf.get(at) ?? []), load.at])
  }
  return { storesOf, loadsOf }
}

function accessesOf({ instructions }: PtxKernel, numbers: ValueNumbers): Access[] {
  return instructions.flatMap(({ name, modifiers, results, inputs }, at) => {
    if ((name !== 'ld' && name !== 'st') || isVolatile(modifiers)) return []
    const space = /\.(?:shared|local|global|param)/.exec(modifiers)?.[0] ?? ''
    const bytes = Number(/\d+$/.exec(modifiers)?.[0]) / 8
    const [place = '', stored = ''] = inputs
    const { factors, constant } = numbers.addressOf(place)
    const operands = name === 'ld' ? results : (stored.match(/[^{},\s]+/g) ?? [])
    return operands.map((operand, part) => ({
      at,
      operand,
      isLoad: name === 'ld',
      space,
      address: { factors, constant: constant + BigInt(part * bytes) },
      bytes,
    }))
  })
}

function placeOf({ space, address: { factors, constant }, bytes }: Access): string {
  return [space, ...[...factors].flat(), constant, bytes].join(' ')
}

function isVolatile(modifiers: string): boolean {
  return /\.(?:acquire|mmio|relaxed|release|volatile)/.test(modifiers)
}

function mayOverlap(
  store: Access,
  load: Access,
  numbers: ValueNumbers,
  factOf: (register: string) => Fact | undefined,
): boolean {
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
