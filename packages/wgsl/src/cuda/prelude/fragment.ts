/**
 * A piece of the prelude: CUDA C++ that generated code may call. A fragment is part of a kernel's source when the
 * kernel, or another fragment in it, names one of `provides`.
 */
export interface Fragment {
  /** The identifiers that pull the fragment in. No user name can equal one: those end in `_` or `_` and digits. */
  readonly provides: readonly string[]
  /** Identifiers of other fragments that it uses without naming them: vector operators. */
  readonly needs?: readonly string[]
  /** The fragment belongs only into sources that also use these identifiers, which it does not pull in itself. */
  readonly when?: readonly string[]
  /** True for leaf functions over PTX: on the CPU `tandem_cpu.hpp` defines them. */
  readonly ptx?: boolean
  /** True for the definition of the type f16. */
  readonly definesF16?: boolean
  readonly source: string
}

/** Vector forms of functions that work by component, `vector_f` for `f`; in the text they have the scalar form's name. */
export function lift(parameters: 1 | 2 | 3, ...names: string[]): Fragment[] {
  return names.map((name) => ({
    provides: [`vector_${name}`],
    needs: [name],
    source: `WGSL_LIFT${parameters}(${name})`,
  }))
}
