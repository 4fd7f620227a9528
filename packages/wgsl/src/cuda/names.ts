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

/** What stands before `_t` in the words of C++ that end so. */
const wordStems = ['char8', 'char16', 'char32', 'wchar']

/**
 * Names in generated code: `row` becomes `row_`, a second `row` `row_1`, a structure `Params` `Params_t`. Every user name so ends
 * in `_`, digits, `_t` or `_u` after it, as no word of C++, of CUDA or of the prelude does that generated code could mean.
 */
export class Names {
  readonly preludeNames = new Set<string>()
  readonly #counts = new Map(wordStems.map((stem) => [stem, 1]))
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
    return isAscii(name) ? `${name}_` : `${plain(name)}_u`
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

function isAscii(name: string): boolean {
  return /^\w+$/.test(name)
}

/** An identifier in ASCII. In one with letters beyond it these, and each `u`, become their code points, so that different names stay different. */
function plain(name: string): string {
  if (isAscii(name)) return /^[0-9]/.test(name) ? `n${name}` : name
  return [...name]
    .map((c) => (/[\w]/.test(c) && c !== 'u' ? c : `u${c.codePointAt(0)!.toString(16)}u`))
    .join('')
}
