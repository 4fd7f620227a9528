import type { FunctionNode } from './ast.ts'

/** The stages of shaders. */
export type Stage = 'compute' | 'vertex' | 'fragment'

/** The stage that a function is an entry point of. */
export function stageOf({ attributes }: FunctionNode): Stage | undefined {
  return attributes.find((a) => a.name === 'compute' || a.name === 'vertex' || a.name === 'fragment')?.name as
    | Stage
    | undefined
}
