import type { BenchDocument, BenchResult } from '../../packages/cli/src/bench/document.ts'

/** Ours over a peer's (or a limit's) rate for the same work, shape and device count. */
export interface Ratio {
  readonly key: string
  readonly ratio: number
}

/** Block sizes and other choices of the one who computes are not part of what is computed. */
const choices = new Set(['block', 'tile', 'streamWidth', 'kernel', 'decomposition'])

function subject(result: BenchResult): string {
  const shape = Object.entries(result.shape)
    .filter(([name]) => !choices.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
  return `${result.work} ${shape.join(' ')} on ${result.devices}`
}

/** Every pair of ours and a peer that compute the same thing. Unverified results have no ratio. */
export function ratiosOf(document: BenchDocument): Ratio[] {
  return document.ours.flatMap((ours) =>
    document.peers
      .filter(
        (peer) =>
          peer.verified && ours.verified && peer.unit === ours.unit && subject(peer) === subject(ours),
      )
      .map((peer) => ({
        key: `${subject(ours)}: ${ours.variant} / ${peer.variant}`,
        ratio: ours.rate / peer.rate,
      })),
  )
}

export interface Comparison {
  readonly key: string
  readonly before: number
  readonly after: number | undefined
  /** after / before - 1; undefined where the newer file lacks the pair. */
  readonly change: number | undefined
  readonly failed: boolean
}

/**
 * Compares the ratios of two files. A ratio fails when it fell by more than `tolerance` (0.05 is 5 %) or is missing from
 * the newer file: what is no longer measured, or no longer verified, cannot be said to hold.
 */
export function compareDocuments(
  before: BenchDocument,
  after: BenchDocument,
  tolerance = 0.05,
): Comparison[] {
  const now = new Map(ratiosOf(after).map((r) => [r.key, r.ratio]))
  return ratiosOf(before).map(({ key, ratio }) => {
    const current = now.get(key)
    const change = current === undefined ? undefined : current / ratio - 1
    return { key, before: ratio, after: current, change, failed: change === undefined || change < -tolerance }
  })
}

/** Checks what a file must have before it is compared; throws with the reason. */
export function parseBenchDocument(text: string, name: string): BenchDocument {
  let value: Partial<BenchDocument>
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`${name} is not JSON: ${(error as Error).message}`)
  }
  if (value.schema !== 1 || value.kind !== 'bench')
    throw new Error(`${name} has schema ${value.schema} and kind ${value.kind}, not schema 1 and kind bench`)
  if (!Array.isArray(value.ours) || !Array.isArray(value.peers)) throw new Error(`${name} has no results`)
  return value as BenchDocument
}
