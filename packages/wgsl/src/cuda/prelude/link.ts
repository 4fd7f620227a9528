import type { Fragment } from './fragment.ts'
import { geometryFragments } from './geometry.ts'
import { halfFragments } from './half.ts'
import { integerFragments } from './integers.ts'
import { mathFragments } from './math.ts'
import { memoryFragments } from './memory.ts'
import { scalarFragments } from './scalars.ts'
import { subgroupMatrixFragments } from './subgroup-matrices.ts'
import { subgroupFragments } from './subgroups.ts'
import { vectorFragments } from './vectors.ts'

/**
 * Every fragment, ordered so that each follows the ones that it uses. Scalar functions precede the vector
 * forms that call them, because templates find functions of built-in types only if they are declared before
 * the template.
 */
export const preludeFragments: readonly Fragment[] = (() => {
  const mixed = [...scalarFragments, ...halfFragments, ...mathFragments, ...integerFragments]
  const usesVectors = (f: Fragment) => /\bvec\b|\bvec[234][fiuhb]\b|WGSL_LIFT/.test(f.source)
  return [
    ...mixed.filter((f) => !usesVectors(f)),
    ...vectorFragments,
    ...mixed.filter(usesVectors),
    ...geometryFragments,
    ...memoryFragments,
    ...subgroupFragments,
    ...subgroupMatrixFragments,
  ]
})()

/** The names that fragments provide. */
export const providedNames: ReadonlySet<string> = new Set(preludeFragments.flatMap((f) => f.provides))

const identifiers = (source: string): Set<string> => new Set(source.match(/[A-Za-z_][A-Za-z0-9_]*/g))

const identifiersOf = new Map<Fragment, Set<string>>(
  preludeFragments.map((f) => [f, identifiers(code(f.source))]),
)

/** Source without comments and strings (PTX). */
function code(source: string): string {
  return source.replace(/\/\/.*$/gm, '').replace(/"[^"]*"/g, '')
}

/** The fragments that provide the names, and the fragments that these need in turn. */
export function fragmentsFor(names: Iterable<string>): readonly Fragment[] {
  const used = new Set(names)
  const chosen = new Set<Fragment>()
  for (let grew = true; grew; ) {
    grew = false
    for (const fragment of preludeFragments) {
      if (chosen.has(fragment)) continue
      if (!fragment.provides.some((name) => used.has(name))) continue
      if (fragment.when?.some((name) => !used.has(name))) continue
      chosen.add(fragment)
      for (const name of identifiersOf.get(fragment)!) used.add(name)
      for (const name of fragment.needs ?? []) used.add(name)
      for (const name of fragment.provides) used.add(name)
      grew = true
    }
  }
  return preludeFragments.filter((f) => chosen.has(f))
}

/**
 * The text of fragments. With the target `cpu`, the PTX leaves are omitted: `native/tandem_cpu/prelude.hpp`
 * has them.
 */
export function preludeText(fragments: readonly Fragment[], target: 'cuda' | 'cpu'): string {
  return fragments
    .filter((f) => f.source !== '' && !(target === 'cpu' && f.ptx))
    .map((f) => f.source)
    .join('\n')
}
