import type { Location, ModuleVariable, StructType } from '../ir.ts'
import { attempt, type SourceText } from '../source-text.ts'
import { checkAliases } from '../validity/alias.ts'
import { checkUniformity } from '../validity/uniformity.ts'
import type { WgslWarning } from '../wgsl-error.ts'
import type { FunctionNode, ModuleDeclarationNode, ModuleNode } from './ast.ts'
import { inDependencyOrder } from './dependencies.ts'
import { checkEntryPointIo, checkMembers } from './entry-point-io.ts'
import { checkBindings, workgroupSizeOf } from './entry-points.ts'
import type { FunctionRecord } from './function-instances.ts'
import { ModuleScope } from './module-scope.ts'
import { pathOf } from './pointer-binding.ts'
import { stageOf } from './stages.ts'

/**
 * Checks all declarations of a module, reachable or not, for any values of its overrides. It finds the errors
 * and warnings of WebGPU's `createShaderModule`. Unsupported features, such as textures, are skipped here and
 * rejected where they are used.
 */
export function checkModule(source: SourceText, node: ModuleNode): WgslWarning[] {
  const scope = new ModuleScope(source, node, undefined)
  const entryPoints: FunctionRecord[] = []
  for (const declaration of inDependencyOrder(source, node.declarations)) {
    attempt(() => {
      if (declaration.kind !== 'function') resolve(scope, declaration)
      else if (stageOf(declaration) === undefined) checkFunction(scope, declaration)
      else {
        checkEntryPointIo(scope, declaration)
        entryPoints.push(scope.functions.entryPoint(declaration))
      }
    })
  }
  scope.overrides()
  scope.checkAsserts()
  scope.functions.lowerPending(attempt)
  const functions = scope.functions.inCallOrder().map((record) => record.lowered)
  for (const entryPoint of entryPoints) checkEntryPoint(scope, entryPoint)
  const error = (loc: Location, text: string) => source.errorAt(loc, text)
  checkAliases(functions, error)
  const warnings: WgslWarning[] = node.unknownRules.map(({ rule, at }) => ({
    severity: 'warning',
    text: `the diagnostic rule '${rule}' is unknown`,
    ...source.locate(at),
  }))
  checkUniformity(functions, error, (severity, loc, text) => warnings.push({ severity, text, ...loc }))
  return warnings.sort((a, b) => a.line - b.line || a.column - b.column)
}

function resolve(scope: ModuleScope, { kind, name, at }: ModuleDeclarationNode): void {
  if (kind !== 'struct' && kind !== 'alias') scope.lookup(name)
  else {
    const type = scope.declaredType(name, at)
    if (kind === 'struct') checkMembers(scope, type as StructType)
  }
}

/** Checks a function, with a variable behind each pointer parameter into module memory. */
function checkFunction(scope: ModuleScope, declaration: FunctionNode): void {
  const loc = scope.source.locate(declaration.at)
  const bindings = scope.signature(declaration).parameters.map((type) => {
    if (type.kind !== 'pointer' || type.space === 'function') return undefined
    const { space, access, store } = type
    const id = scope.newId()
    const variable: ModuleVariable = {
      kind: 'module-variable',
      id,
      name: `stand-in ${id}`,
      space,
      access,
      type: store,
      binding: undefined,
      initial: undefined,
      loc,
    }
    return pathOf({ kind: 'variable', variable, type: store, loc }, (v) => scope.standIn(v)).binding
  })
  scope.functions.instantiate(declaration, bindings, declaration.at)
}

function checkEntryPoint(scope: ModuleScope, entryPoint: FunctionRecord): void {
  const { source, functions } = scope
  const { node } = entryPoint
  const stage = stageOf(node)!
  if (stage === 'compute') workgroupSizeOf(scope, node)
  const variables = new Set<ModuleVariable>()
  for (const record of functions.reachableFrom(entryPoint)) {
    for (const variable of record.variables) variables.add(variable)
    for (const { stages, what, at } of record.stageUses.values()) {
      if (!stages.includes(stage))
        throw source.error(at, `${what} cannot be used in the ${stage} shader '${node.name}'`)
    }
  }
  checkBindings(source, [...variables])
}
