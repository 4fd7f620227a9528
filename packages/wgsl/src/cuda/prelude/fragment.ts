/**
 * A piece of the prelude: CUDA C++ that generated code may call. A kernel's source contains a fragment if the
 * kernel, or another of its fragments, uses one of the names in `provides`.
 *
 * A function that returns a scalar takes a class as its first parameter only by reference. nvcc 13.0 loses the
 * result of such a call otherwise: where LLVM 7 propagates constants between functions, `ResolvedUndefsIn` may
 * give up on a call whose first operand is a structure, while it still replaces the return value of a function
 * with one known result by undef.
 */
export interface Fragment {
  /**
   * The identifiers that pull the fragment in. No user name can equal one: those end in `_` or `_` and
   * digits.
   */
  readonly provides: readonly string[]
  /**
   * Identifiers of other fragments that it uses without their names appearing in its text: vector operators.
   */
  readonly needs?: readonly string[]
  /**
   * The fragment is only included in sources that also use these identifiers; it does not pull them in
   * itself.
   */
  readonly when?: readonly string[]
  /** True for leaf functions in PTX, which `native/tandem_cpu/prelude.hpp` defines on the CPU. */
  readonly ptx?: boolean
  readonly source: string
}

/**
 * A definition for vectors of each size, one per line. `parts` lists the results of `part` for each
 * component: `parts((c) => `f(a.${c})`)`.
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
 * Vector forms of component-wise functions, `vector_f` for `f`; in the generated text, they have the name of
 * the scalar form.
 */
export function lift(parameters: 1 | 2 | 3, ...names: string[]): Fragment[] {
  return names.map((name) => ({
    provides: [`vector_${name}`],
    needs: [name],
    source: `WGSL_LIFT${parameters}(${name})`,
  }))
}
