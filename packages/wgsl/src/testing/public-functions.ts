import { emitCuda } from '../cuda/emit-cuda.ts'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { compileReference } from '../reference/index.ts'
import { reflect } from '../reflect.ts'
import { walk } from '../walk.ts'
import { WgslError } from '../wgsl-error.ts'
import { printIr } from './print-ir.ts'

/** The package's output for a source, as one text, or the error that rejects the source. */
export type Outcome =
  | { readonly accepted: true; readonly text: string }
  | { readonly accepted: false; readonly error: WgslError }

/** The functions of the package through which a source passes, in order. */
export const stages = ['parse', 'lower', 'reflect', 'print', 'walk', 'reference', 'cuda'] as const
export type Stage = (typeof stages)[number]

/**
 * Runs every public function of the package on a source, up to the stage `last`. Anything thrown that is not
 * a `WgslError` is rethrown: it is a defect of the package.
 */
export function runPublicFunctions(source: string, last: Stage = 'cuda'): Outcome {
  const wanted = (stage: Stage) => stages.indexOf(stage) <= stages.indexOf(last)
  try {
    const module = parseWgsl(source)
    const output: unknown[] = [module.entryPoints]
    for (const { name, stage } of module.entryPoints) {
      if (stage !== 'compute' || !wanted('lower')) continue
      const ir = lower(module, { entryPoint: name })
      if (wanted('reflect')) output.push(reflect(ir))
      if (wanted('print')) output.push(printIr(ir))
      let visited = 0
      const count = () => {
        visited++
        return undefined
      }
      if (wanted('walk')) walk(ir, { statement: count, expression: count, place: count })
      output.push(visited)
      if (wanted('reference') && ir.features.includes('subgroups') === false) compileReference(ir)
      if (wanted('cuda')) output.push(emitCuda(ir, { bounds: 'clamp' }))
    }
    return {
      accepted: true,
      // Written only on demand: in a reflection, equal types are one object.
      get text() {
        return output.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join('\n')
      },
    }
  } catch (error) {
    if (error instanceof WgslError) return { accepted: false, error }
    throw error
  }
}
