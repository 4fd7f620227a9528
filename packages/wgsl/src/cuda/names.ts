import type {
  Constant,
  IrFunction,
  LetValue,
  LocalVariable,
  ModuleVariable,
  Parameter,
  StructType,
} from '../ir.ts'

type Named = Constant | IrFunction | LetValue | LocalVariable | ModuleVariable | Parameter

/**
 * Names whose first generated forms have another meaning, each with the number at which its forms start. As
 * structures, `char16` and the like would become C++ types (`char16_t`); `M_PI_2`, `M_PI_4` and `M_SQRT1_2`
 * are macros of header files that nvcc includes; `array_length`, `trap_view` and `matrix_in_view`, which
 * could be derived from the names of bindings, belong to the prelude.
 */
const firstNumbers = {
  char8: 1,
  char16: 1,
  char32: 1,
  wchar: 1,
  M_PI: 5,
  M_SQRT1: 3,
  array: 1,
  trap: 1,
  matrix_in: 1,
}

/**
 * Names in generated code: `row` becomes `row_`, a second `row` `row_1`, a structure `Params` `Params_t`.
 * Every user name so ends in `_`, digits, `_t`, `_u` or `_n` after it, as no word of C++, of CUDA or of the
 * prelude does that generated code could mean. Of names that begin with an underscore and a capital, which
 * C++ keeps for its own macros (`_SIZE_T_`), no generated name is made: `_Row` becomes `n_Row_`. Names
 * derived from a binding's append letters without an underscore (`row_length`), so that the last underscore
 * tells the binding.
 */
export class Names {
  readonly preludeNames = new Set<string>()
  readonly #counts = new Map(Object.entries(firstNumbers))
  readonly #known = new Map<number | StructType, string>()

  of({ id, name }: Named): string {
    return this.#once(id, () => this.#fresh(name))
  }

  struct(type: StructType): string {
    return this.#once(type, () => `${this.#fresh(type.name.replace(/^_+/, ''))}t`)
  }

  /** Returns the name of a function, type or macro of the prelude and records that the kernel needs it. */
  prelude(name: string): string {
    this.preludeNames.add(name)
    return name
  }

  member(name: string): string {
    if (!isAscii(name)) return `${plain(name)}_u`
    return isReserved(name) ? `${plain(name)}_n` : `${name}_`
  }

  #once(key: number | StructType, make: () => string): string {
    const name = this.#known.get(key) ?? make()
    this.#known.set(key, name)
    return name
  }

  #fresh(source: string): string {
    const base = plain(source)
    const count = this.#counts.get(base) ?? 0
    this.#counts.set(base, count + 1)
    return count === 0 ? `${base}_` : `${base}_${count}`
  }
}

function isReserved(name: string): boolean {
  return /^_[A-Z]/.test(name)
}

function isAscii(name: string): boolean {
  return /^\w+$/.test(name)
}

/**
 * Converts an identifier to ASCII. If it has other letters, these and each `u` are replaced by their code
 * points, so that different names remain different.
 */
function plain(name: string): string {
  if (isAscii(name)) return /^[0-9]/.test(name) || isReserved(name) ? `n${name}` : name
  return [...name]
    .map((c) => (/[\w]/.test(c) && c !== 'u' ? c : `u${c.codePointAt(0)!.toString(16)}u`))
    .join('')
}
