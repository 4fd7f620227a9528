/**
 * A piece of the prelude: CUDA C++ that generated code may call. A fragment is part of a kernel's source when
 * the kernel, or another fragment in it, names one of `provides`.
 */
export interface Fragment {
  /**
   * The identifiers that pull the fragment in. No user name can equal one: those end in `_` or `_` and
   * digits.
   */
  readonly provides: readonly string[]
  /** Identifiers of other fragments that it uses without naming them: vector operators. */
  readonly needs?: readonly string[]
  /**
   * The fragment belongs only into sources that also use these identifiers, which it does not pull in itself.
   */
  readonly when?: readonly string[]
  /** True for leaf functions over PTX: on the CPU `native/tandem_cpu/prelude.hpp` defines them. */
  readonly ptx?: boolean
  readonly source: string
}

/**
 * A definition for vectors of each size, one on a line. `parts` lists what `part` gives for each component:
 * `parts((c) => `f(a.${c})`)`.
 */
export function forEachSize(
  definition: (size: number, parts: (part: (component: string) => string) => string) => string,
): string {
  const components = ['x', 'y', 'z', 'w']
  return [2, 3, 4]
    .map((size) => definition(size, (part) => components.slice(0, size).map(part).join(', ')))
    .join('\n')
}

/**
 * Vector forms of functions that work by component, `vector_f` for `f`; in the text they have the scalar
 * form's name.
 */
export function lift(parameters: 1 | 2 | 3, ...names: string[]): Fragment[] {
  return names.map((name) => ({
    provides: [`vector_${name}`],
    needs: [name],
    source: `WGSL_LIFT${parameters}(${name})`,
  }))
}
