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
 * Names in generated code: `row` becomes `row_`, a second `row` `row_1`, a structure `Params` `Params_t`. Every user name so ends
 * in `_`, digits or `_t` after it, as no word of C++, of CUDA or of the prelude does that generated code could mean.
 */
export class Names {
  readonly preludeNames = new Set<string>()
  readonly #counts = new Map<string, number>()
  readonly #known = new Map<number | StructType, string>()

  of({ id, name }: Named): string {
    return this.#once(id, () => this.#fresh(name))
  }

  struct(type: StructType): string {
    return this.#once(type, () => `${this.#fresh(type.name.replace(/^_+/, ''))}t`)
  }

  /** A function, type or macro of the prelude, which the kernel then needs. */
  prelude(name: string): string {
    this.preludeNames.add(name)
    return name
  }

  member(name: string): string {
    return `${plain(name)}_`
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

/** An identifier in ASCII; letters beyond it become their code points. */
function plain(name: string): string {
  const ascii = [...name]
    .map((c) => (/[A-Za-z0-9_]/.test(c) ? c : `u${c.codePointAt(0)!.toString(16)}u`))
    .join('')
  return /^[0-9]/.test(ascii) ? `n${ascii}` : ascii
}
