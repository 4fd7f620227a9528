import type { Expression, IrFunction, IrModule, Location, ModuleVariable, StructType, Type } from '../ir.ts'
import { typeName, u32Type } from '../types.ts'
import { checkAliases } from '../validity/alias.ts'
import { checkUniformity } from '../validity/uniformity.ts'
import { walk, walkExpression } from '../walk.ts'
import { WgslError } from '../wgsl-error.ts'
import type { AttributeNode, FunctionNode, ModuleNode } from './ast.ts'
import { FunctionLowering } from './function-lowering.ts'
import { ModuleScope } from './module-scope.ts'
import { commonType } from './numeric-types.ts'
import { OverrideError } from './override-error.ts'
import { parseModule } from './parser.ts'
import { SourceText } from './source-text.ts'
import { isTextureType } from './type-names.ts'
import { standInBinding } from './user-calls.ts'

/** An entry point of a parsed module. */
export interface EntryPointSummary {
  readonly name: string
  readonly stage: 'compute' | 'vertex' | 'fragment'
}

/** A module whose syntax is right. Types are checked by `lower`, since they may depend on overrides. */
export interface WgslModule {
  readonly label: string
  readonly source: string
  readonly entryPoints: readonly EntryPointSummary[]
}

interface Parsed {
  readonly text: SourceText
  readonly node: ModuleNode
  /** Whether functions that no entry point reaches have been checked. */
  checked: boolean
}

/** The syntax trees, which are no part of the public module. */
const parsedModules = new WeakMap<WgslModule, Parsed>()

const stageNames = new Set(['compute', 'vertex', 'fragment'])

/** Parses WGSL; throws `WgslError` at the first error of syntax. `label` names the source in messages. */
export function parseWgsl(source: string, options: { readonly label?: string } = {}): WgslModule {
  const { label = 'wgsl' } = options
  const text = new SourceText(source, label)
  const node = parseModule(text)
  const entryPoints: EntryPointSummary[] = []
  for (const declaration of node.declarations) {
    if (declaration.kind !== 'function') continue
    const stages = declaration.attributes.filter((a) => stageNames.has(a.name))
    if (stages.length > 1) throw text.error(stages[1]!.at, `'${declaration.name}' has more than one stage`)
    const [stage] = stages
    if (stage !== undefined) entryPoints.push({ name: declaration.name, stage: stage.name as 'compute' })
  }
  const module: WgslModule = { label, source, entryPoints }
  parsedModules.set(module, { text, node, checked: false })
  return module
}

/** What `lower` may be told. */
export interface LowerOptions {
  /** The compute entry point; may be left out when there is exactly one. */
  readonly entryPoint?: string | undefined
  /** Values of overrides by `@id` (as a decimal number) or else by name, as WebGPU has it. */
  readonly constants?: Readonly<Record<string, number | boolean>> | undefined
}

/**
 * Checks and lowers one compute entry point with all that it reaches, overrides specialised to `constants`.
 * Throws `WgslError` for anything invalid, for an entry point that does not exist, and for overrides without value.
 */
export function lower(module: WgslModule, options: LowerOptions = {}): IrModule {
  const parsed = parsedModules.get(module)
  if (parsed === undefined) throw new TypeError('the module does not come from parseWgsl')
  const { text } = parsed
  try {
    return lowerParsed(module, parsed, options)
  } catch (error) {
    if (error instanceof OverrideError && error.cause instanceof WgslError) throw error.cause
    if (error instanceof RangeError && /call stack/.test(error.message))
      throw text.error(0, 'the source nests too deeply')
    throw error
  }
}

function lowerParsed(module: WgslModule, parsed: Parsed, options: LowerOptions): IrModule {
  const { text, node } = parsed
  const declaration = chooseEntryPoint(module, parsed, options.entryPoint)
  const scope = new ModuleScope(text, node, new Map(Object.entries(options.constants ?? {})))
  const overrides = scope.overrides()
  scope.checkAsserts()
  const entryPoint = new FunctionLowering(scope, declaration, []).lowerEntryPoint()
  const workgroupSize = workgroupSizeOf(scope, declaration)
  const functions = [...scope.functions, entryPoint]
  const variables = [...scope.usedVariables].sort(
    (a, b) => a.loc.line - b.loc.line || a.loc.column - b.loc.column,
  )
  checkBindings(text, variables)
  const constants = [...scope.constants]
  const ir: IrModule = {
    kind: 'module',
    label: module.label,
    source: module.source,
    entryPoint,
    workgroupSize,
    structs: collectStructs(functions, variables),
    constants,
    overrides,
    variables,
    functions,
    features: [
      ...(scope.isEnabled('f16') ? (['shader-f16'] as const) : []),
      ...(scope.isEnabled('subgroups') ? (['subgroups'] as const) : []),
    ],
  }
  const others = parsed.checked ? [] : checkUnreached(scope, node, module)
  parsed.checked = true
  const all = [...scope.functions, entryPoint, ...others]
  const error = (loc: Location, message: string) => text.errorAt(loc, message)
  checkAliases(all, error)
  checkUniformity(all, error)
  return ir
}

function chooseEntryPoint(
  module: WgslModule,
  { text, node }: Parsed,
  name: string | undefined,
): FunctionNode {
  const compute = module.entryPoints.filter((e) => e.stage === 'compute')
  if (name === undefined && compute.length !== 1) {
    const names = compute.map((e) => `'${e.name}'`).join(', ')
    throw text.error(
      0,
      compute.length === 0 ? 'the module has no compute entry point' : `choose an entry point of ${names}`,
    )
  }
  const chosen = name ?? compute[0]!.name
  const declaration = node.declarations.find((d) => d.kind === 'function' && d.name === chosen)
  if (declaration?.kind !== 'function' || !compute.some((e) => e.name === chosen)) {
    const names = compute.map((e) => `'${e.name}'`).join(', ') || 'none'
    throw text.error(
      declaration?.at ?? 0,
      `the module has no compute entry point '${chosen}'; there is ${names}`,
    )
  }
  return declaration
}

function workgroupSizeOf(
  scope: ModuleScope,
  { attributes, at, name }: FunctionNode,
): [number, number, number] {
  const attribute: AttributeNode | undefined = attributes.find((a) => a.name === 'workgroup_size')
  if (attribute === undefined) throw scope.source.error(at, `the entry point '${name}' needs @workgroup_size`)
  const size: [number, number, number] = [1, 1, 1]
  const given = attribute.args.map((arg) => scope.expressions.constant(arg, 'a workgroup size', true))
  const types = given.map((operand) => operand.type)
  const overrides = given.map((operand) => operand.override)
  const common = commonType(types)
  if (common === undefined) {
    throw scope.source.error(
      attribute.at,
      `the workgroup sizes are of different types: ${types.map(typeName).join(', ')}`,
    )
  }
  for (const [i, arg] of attribute.args.entries()) {
    const value = scope.expressions.constantInteger(
      arg,
      'a workgroup size',
      true,
      common === u32Type ? 'u32' : 'i32',
    )
    if (value < 1)
      throw scope.expressions.valueError(
        arg.at,
        `the workgroup size ${value} is not at least 1`,
        overrides[i]!,
      )
    size[i] = value
  }
  checkSubgroupSize(scope, attributes)
  return size
}

/** Subgroups have 32 invocations here, so that is the only size that an entry point may ask for. */
function checkSubgroupSize(scope: ModuleScope, attributes: FunctionNode['attributes']): void {
  const attribute = attributes.find((a) => a.name === 'subgroup_size')
  if (attribute === undefined) return
  if (!scope.isEnabled('subgroup_size_control'))
    throw scope.source.error(attribute.at, `@subgroup_size needs 'enable subgroup_size_control;'`)
  const size = scope.expressions.constantInteger(attribute.args[0]!, 'the subgroup size', true)
  if (size < 1 || (size & (size - 1)) !== 0)
    throw scope.source.error(attribute.at, `the subgroup size ${size} is not a power of two`)
  if (size !== 32)
    throw scope.source.error(attribute.at, `the subgroup size ${size} is not supported: it is always 32`)
}

function checkBindings(text: SourceText, variables: readonly ModuleVariable[]): void {
  const seen = new Map<string, string>()
  for (const { name, binding, loc } of variables) {
    if (binding === undefined) continue
    const key = `@group(${binding.group}) @binding(${binding.binding})`
    const other = seen.get(key)
    if (other !== undefined) throw text.errorAt(loc, `'${name}' and '${other}' both have ${key}`)
    seen.set(key, name)
  }
}

/** The structures that code and variables mention, each after those it contains. */
function collectStructs(
  functions: readonly IrFunction[],
  variables: readonly ModuleVariable[],
): StructType[] {
  const structs = new Set<StructType>()
  const seen = new Set<Type>()
  const add = (type: Type | undefined): void => {
    if (type === undefined || seen.has(type)) return
    seen.add(type)
    if (type.kind === 'array') add(type.element)
    else if (type.kind === 'pointer') add(type.store)
    else if (type.kind === 'struct') {
      for (const member of type.members) add(member.type)
      structs.add(type)
    }
  }
  const visitor = {
    expression: (e: Expression) => {
      add(e.type)
      if (e.kind === 'constant') add(e.constant.type)
      return undefined
    },
    place: (p: { type: Type }) => {
      add(p.type)
      return undefined
    },
    statement: (s: Parameters<NonNullable<Parameters<typeof walk>[1]['statement']>>[0]) => {
      if (s.kind === 'let' || s.kind === 'var') add(s.variable.type)
      return undefined
    },
  }
  for (const variable of variables) {
    add(variable.type)
    if (variable.initial) walkExpression(variable.initial, visitor)
  }
  for (const f of functions) {
    for (const parameter of f.parameters) add(parameter.type)
    add(f.returnType)
    walk(f, visitor)
  }
  return [...structs]
}

/**
 * Checks what the entry point does not reach, once for each module. Modules with render stages are left to Tint, and so is
 * what depends on the values of overrides, or uses textures. Gives the other entry points.
 */
function checkUnreached(scope: ModuleScope, node: ModuleNode, module: WgslModule): IrFunction[] {
  const entryPoints: IrFunction[] = []
  if (module.entryPoints.some((e) => e.stage !== 'compute')) return entryPoints
  const attempt = (check: () => void) => {
    try {
      check()
    } catch (error) {
      const unsupported = error instanceof WgslError && / not supported/.test(error.text)
      if (!unsupported && !(error instanceof OverrideError)) throw error
    }
  }
  for (const declaration of node.declarations) {
    attempt(() => {
      switch (declaration.kind) {
        case 'struct':
        case 'alias':
          scope.declaredType(declaration.name, declaration.at)
          break
        case 'function':
          if (declaration.attributes.some((a) => a.name === 'compute')) {
            entryPoints.push(new FunctionLowering(scope, declaration, []).lowerEntryPoint())
            workgroupSizeOf(scope, declaration)
          } else checkFunction(scope, declaration)
          break
        case 'global-const':
          scope.lookup(declaration.name)
          break
        case 'global-var':
          if (!isTextureType(declaration.type?.name ?? '')) scope.lookup(declaration.name)
          break
        case 'override':
          break
      }
    })
  }
  return entryPoints
}

function checkFunction(scope: ModuleScope, declaration: FunctionNode): void {
  const bindings = scope.signature(declaration).parameters.map((type) => {
    if (type.kind !== 'pointer' || type.space === 'function') return undefined
    const { space, access, store } = type
    const id = scope.newId()
    const loc = scope.source.locate(declaration.at)
    const variable: ModuleVariable = {
      ...{ kind: 'module-variable', id, name: `stand-in ${id}`, space, access, type: store },
      ...{ binding: undefined, initial: undefined, loc },
    }
    return standInBinding(variable)
  })
  scope.instantiate(declaration, bindings, declaration.at)
}
