import { type IrModule, lower, parseWgsl, WgslError, type WgslModule } from '@tandem-gpu/wgsl'
import type { CompilationMessage } from './compilation-info.ts'
import { featureOfExtension } from './features.ts'

/**
 * An entry point for modules that have none, because checking a module requires lowering an entry point. It
 * is appended after the code, so that source positions do not change.
 */
const standIn = {
  name: 'tandem_stand_in',
  code: '\n@compute @workgroup_size(1) fn tandem_stand_in() {}\n',
} as const

/** A WGSL text with the messages of the front end. */
export class ShaderSource {
  readonly code: string
  readonly messages: readonly CompilationMessage[]
  /** The error that makes the module invalid. */
  readonly problem: string | undefined
  /** The extensions that the code enables, with the features that they need. */
  readonly features: readonly (readonly [extension: string, feature: string])[]
  readonly #module: WgslModule | undefined
  /** Modules lowered without constants, by the requested entry point name, if any. */
  readonly #lowered = new Map<string | undefined, IrModule>()

  constructor(code: string) {
    this.code = code
    this.features = enabledFeatures(code)
    try {
      this.#module = parseWgsl(code, { label: 'shader' })
      const { warnings } = this.#check(this.#module)
      this.messages = warnings.map(({ severity, ...place }) => messageOf(severity, place, code))
    } catch (error) {
      if (!(error instanceof WgslError)) throw error
      this.#module = undefined
      this.problem = error.message
      this.messages = [messageOf('error', error, code)]
    }
  }

  /** Throws a `WgslError` if no pipeline can be created with these arguments. */
  lower(entryPoint: string | undefined, constants: Readonly<Record<string, number>>): IrModule {
    const module = this.#module!
    for (const _ in constants) return lower(module, { entryPoint, constants })
    const lowered = this.#lowered.get(entryPoint) ?? lower(module, { entryPoint })
    this.#lowered.set(entryPoint, lowered)
    return lowered
  }

  /**
   * Throws if the module is invalid. Errors that concern only some pipelines, such as missing override
   * values, do not throw here.
   */
  #check(module: WgslModule): IrModule {
    const first = module.entryPoints.find(({ stage }) => stage === 'compute')
    if (first !== undefined) {
      try {
        const lowered = lower(module, { entryPoint: first.name })
        this.#lowered.set(first.name, lowered)
        if (module.entryPoints.length === 1) this.#lowered.set(undefined, lowered)
        return lowered
      } catch (error) {
        if (!(error instanceof WgslError)) throw error
      }
    }
    return lower(parseWgsl(`${this.code}${standIn.code}`, { label: 'shader' }), { entryPoint: standIn.name })
  }
}

function messageOf(
  type: CompilationMessage['type'],
  { text, line, column }: Pick<WgslError, 'text' | 'line' | 'column'>,
  code: string,
): CompilationMessage {
  return {
    message: text,
    type,
    lineNum: line,
    linePos: column,
    offset: Math.min(code.length, lineStart(code, line) + column - 1),
    length: 0,
  }
}

/** The offset of the start of a line, in code units. Line breaks are those of WGSL. */
function lineStart(code: string, line: number): number {
  const breaks = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g
  let start = 0
  for (let i = 1; i < line; i++) {
    const match = breaks.exec(code)
    if (match === null) break
    start = match.index + match[0].length
  }
  return start
}

const blank = /(?:\s|\u200e|\u200f|\/\/[^\n\v\f\r\u0085\u2028\u2029]*|\/\*(?:[^*]|\*(?!\/))*\*\/)*/y
const directive = /(enable|requires|diagnostic)\b([^;]*);/y

/** Directives come before everything except comments. */
function enabledFeatures(code: string): (readonly [string, string])[] {
  const found: (readonly [string, string])[] = []
  let at = 0
  for (;;) {
    blank.lastIndex = at
    blank.exec(code)
    directive.lastIndex = Math.max(at, blank.lastIndex)
    const match = directive.exec(code)
    if (match === null) return found
    at = directive.lastIndex
    if (match[1] !== 'enable') continue
    for (const name of match[2]!.replace(/\/\/.*|\/\*[\s\S]*?\*\//g, '').split(',')) {
      const feature = featureOfExtension[name.trim()]
      if (feature !== undefined) found.push([name.trim(), feature])
    }
  }
}
