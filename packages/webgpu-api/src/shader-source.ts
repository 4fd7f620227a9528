import { constantsKey, type FrontEndCache } from '@tandem-gpu/core/backend'
import {
  type IrModule,
  lower,
  parseWgsl,
  type Reflection,
  reflect,
  WgslError,
  type WgslModule,
} from '@tandem-gpu/wgsl'
import type { CompilationMessage } from './compilation-info.ts'

/** Change this if the same front end would lead to other findings. */
const findingsFormat = '2'

/** What is kept of a valid module between processes. */
interface Findings {
  readonly messages: readonly CompilationMessage[]
  readonly extensions: readonly string[]
  /** The kernel that the check lowered, with the names by which pipelines may request it. */
  readonly checked:
    | { readonly names: readonly (string | undefined)[]; readonly reflection: Reflection }
    | undefined
}

type Constants = Readonly<Record<string, number>>

/** An entry point with values of overrides. */
export interface ShaderKernel {
  readonly reflection: Reflection
  /** Runs the front end at the first call if the reflection was kept by an earlier process. */
  lowered(): IrModule
}

/** A WGSL text with the messages of the front end, which need not run if the cache has its findings. */
export class ShaderSource {
  readonly code: string
  readonly messages: readonly CompilationMessage[]
  /** The error that makes the module invalid. */
  readonly problem: string | undefined
  /** The extensions that a valid module enables. */
  readonly extensions: readonly string[]
  readonly #cache: FrontEndCache | undefined
  #parsed: WgslModule | undefined
  /** Kernels without constants, by the requested entry point name, if any. */
  readonly #kernels = new Map<string | undefined, ShaderKernel>()

  constructor(code: string, cache: FrontEndCache | undefined) {
    this.code = code
    this.#cache = cache
    const key = ['shader module', findingsFormat, code]
    const kept = cache?.get(key) as Findings | undefined
    if (kept !== undefined) {
      this.messages = kept.messages
      this.extensions = kept.extensions
      for (const name of kept.checked?.names ?? [])
        this.#kernels.set(name, this.#known(kept.checked!.reflection, name, {}))
      return
    }
    try {
      const { warnings } = this.#check()
      this.extensions = this.#module.extensions
      this.messages = messagesOf(warnings, code)
      const [checked] = this.#kernels.values()
      const { reflection } = checked ?? {}
      const names = [...this.#kernels.keys()]
      cache?.set(key, {
        messages: this.messages,
        extensions: this.extensions,
        checked: reflection && { names, reflection },
      } satisfies Findings)
    } catch (error) {
      if (!(error instanceof WgslError)) throw error
      const { text, line, column, message } = error
      this.problem = message
      this.messages = messagesOf([{ severity: 'error', text, line, column }], code)
      this.extensions = []
    }
  }

  /** Throws a `WgslError` if no pipeline can be created with these arguments. */
  kernel(entryPoint: string | undefined, constants: Constants): ShaderKernel {
    const isPlain = Object.keys(constants).length === 0
    const known = isPlain ? this.#kernels.get(entryPoint) : undefined
    if (known !== undefined) return known
    const options = [entryPoint ?? null, constantsKey(constants)]
    const key = ['shader kernel', findingsFormat, this.code, JSON.stringify(options)]
    const kept = this.#cache?.get(key) as Reflection | undefined
    const kernel =
      kept === undefined ? this.#lower(entryPoint, constants) : this.#known(kept, entryPoint, constants)
    if (kept === undefined) this.#cache?.set(key, kernel.reflection)
    if (isPlain) this.#kernels.set(entryPoint, kernel)
    return kernel
  }

  #known(reflection: Reflection, entryPoint: string | undefined, constants: Constants): ShaderKernel {
    let lowered: IrModule | undefined
    return {
      reflection,
      lowered: () => {
        lowered ??= this.#lower(entryPoint, constants).lowered()
        return lowered
      },
    }
  }

  #lower(entryPoint: string | undefined, constants: Constants): ShaderKernel {
    const module = lower(this.#module, { entryPoint, constants })
    return { reflection: reflect(module), lowered: () => module }
  }

  get #module(): WgslModule {
    this.#parsed ??= parseWgsl(this.code, { label: 'shader' })
    return this.#parsed
  }

  /**
   * Throws if the module is invalid. Errors that concern only some pipelines, such as missing override
   * values, do not throw here.
   */
  #check(): Pick<IrModule, 'warnings'> {
    const { entryPoints } = this.#module
    const first = entryPoints.find(({ stage }) => stage === 'compute')
    if (first !== undefined) {
      try {
        const kernel = this.#lower(first.name, {})
        this.#kernels.set(first.name, kernel)
        if (entryPoints.length === 1) this.#kernels.set(undefined, kernel)
        return kernel.lowered()
      } catch (error) {
        if (!(error instanceof WgslError)) throw error
      }
    }
    // Checking a module requires lowering an entry point. One that is appended leaves source positions unchanged.
    let entryPoint = 'tandem_stand_in'
    while (this.code.includes(entryPoint)) entryPoint += '_'
    const text = `${this.code}\n@compute @workgroup_size(1) fn ${entryPoint}() {}\n`
    return lower(parseWgsl(text, { label: 'shader' }), { entryPoint })
  }
}

/** The messages for what the front end found. Line breaks are those of WGSL, offsets count code units. */
function messagesOf(
  found: readonly (Pick<WgslError, 'text' | 'line' | 'column'> & { severity: CompilationMessage['type'] })[],
  code: string,
): CompilationMessage[] {
  if (found.length === 0) return []
  const breaks = code.matchAll(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/g)
  const starts = [0, ...Array.from(breaks, (match) => match.index + match[0].length)]
  return found.map(({ severity, text, line, column }) => ({
    message: text,
    type: severity,
    lineNum: line,
    linePos: column,
    offset: Math.min(code.length, (starts[line - 1] ?? code.length) + column - 1),
    length: 0,
  }))
}
