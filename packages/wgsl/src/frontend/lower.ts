import type { IrFunction, IrModule, Location, ModuleVariable, StructType, Type } from '../ir.ts'
import { SourceText } from '../source-text.ts'
import { type Visitor, walk } from '../walk.ts'
import { WgslError, type WgslWarning } from '../wgsl-error.ts'
import type { FunctionNode, ModuleNode } from './ast.ts'
import { inDependencyOrder } from './dependencies.ts'
import { checkBindings, checkPrivateVariables, workgroupSizeOf } from './entry-points.ts'
import { checkModule } from './module-check.ts'
import { ModuleScope } from './module-scope.ts'
import { parseModule } from './parser.ts'
import type { Stage } from './stages.ts'

/** An entry point of a parsed module. */
export interface EntryPointSummary {
  readonly name: string
  readonly stage: Stage
}

/** A syntactically valid module. `lower` checks types, since they may depend on overrides. */
export interface WgslModule {
  readonly label: string
  readonly source: string
  readonly entryPoints: readonly EntryPointSummary[]
  /** The extensions that it enables. */
  readonly extensions: readonly string[]
}

interface Parsed {
  readonly text: SourceText
  readonly node: ModuleNode
  /** The warnings of the whole-module check; undefined before the check. */
  warnings: readonly WgslWarning[] | undefined
}

/** The syntax trees, which are not part of the public module. */
const parsedModules = new WeakMap<WgslModule, Parsed>()

const stageNames = new Set(['compute', 'vertex', 'fragment'])

/**
 * Parses WGSL. Throws `WgslError` at the first syntax error, and `TypeError` if `source` is not a string.
 * `label` names the source in messages.
 */
export function parseWgsl(source: string, options: { readonly label?: string } = {}): WgslModule {
  if (typeof source !== 'string')
    throw new TypeError(`The source of parseWgsl is of type ${typeof source}; it must be a string of WGSL.`)
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
  const extensions = node.enables.map((e) => e.name)
  const module: WgslModule = { label, source, entryPoints, extensions }
  parsedModules.set(module, { text, node, warnings: undefined })
  return module
}

/** Options of `lower`. */
export interface LowerOptions {
  /** The compute entry point; may be omitted if there is exactly one. */
  readonly entryPoint?: string | undefined
  /** Values of overrides by `@id` (as a decimal number) or else by name, as in WebGPU. */
  readonly constants?: Readonly<Record<string, number | boolean>> | undefined
}

/**
 * Checks the module on the first call, and lowers one compute entry point with everything that it uses, with
 * overrides specialized to `constants`. Throws `WgslError` for anything invalid, for an entry point that does
 * not exist, and for overrides without a value.
 */
export function lower(module: WgslModule, options: LowerOptions = {}): IrModule {
  return lowerWith(module, options, false)
}

/**
 * Like `lower`, but overrides may lack values. What depends on those is unknown: lengths and workgroup sizes are
 * as small as they can be.
 */
export function lowerWithoutValues(module: WgslModule, entryPoint: string): IrModule {
  return lowerWith(module, { entryPoint }, true)
}

function lowerWith(module: WgslModule, options: LowerOptions, isSymbolic: boolean): IrModule {
  const parsed = parsedModules.get(module)
  if (parsed === undefined) throw new TypeError('The module of lower must be one that parseWgsl returned.')
  const { text, node } = parsed
  const declaration = chooseEntryPoint(module, parsed, options.entryPoint)
  parsed.warnings ??= checkModule(text, node)
  const values = new Map(Object.entries(options.constants ?? {}))
  return irOf(module, parsed, declaration, new ModuleScope(text, node, values, isSymbolic))
}

function irOf(module: WgslModule, parsed: Parsed, declaration: FunctionNode, scope: ModuleScope): IrModule {
  const { text, node, warnings = [] } = parsed
  resolveChains(scope, node)
  const overrides = scope.overrides()
  const record = scope.functions.entryPoint(declaration)
  scope.functions.lowerPending()
  const workgroupSize = workgroupSizeOf(scope, declaration)
  const records = scope.functions.reachableFrom(record)
  const functions = records.map((r) => r.lowered)
  const variables = inSourceOrder(new Set(records.flatMap((r) => [...r.variables])))
  checkBindings(text, variables)
  checkPrivateVariables(text, variables)
  return {
    kind: 'module',
    label: module.label,
    source: module.source,
    entryPoint: record.lowered,
    workgroupSize,
    structs: collectStructs(functions, variables),
    constants: inSourceOrder(scope.constants),
    overrides,
    variables,
    viewedBytes: scope.viewedBytes,
    functions,
    features: [
      ...(scope.isEnabled('f16') ? (['shader-f16'] as const) : []),
      ...(scope.isEnabled('subgroups') ? (['subgroups'] as const) : []),
      ...(scope.isEnabled('chromium_experimental_subgroup_matrix')
        ? (['chromium-experimental-subgroup-matrix'] as const)
        : []),
    ],
    warnings,
  }
}

/**
 * Resolves declarations that may form long chains, to avoid deep recursion. Errors are thrown when the
 * declaration is used, except for a value that an override cannot have.
 */
function resolveChains(scope: ModuleScope, node: ModuleNode): void {
  for (const { kind, name, at } of inDependencyOrder(scope.source, node.declarations)) {
    if (kind === 'override') scope.lookup(name)
    else
      try {
        if (kind === 'global-const') scope.lookup(name)
        else if (kind === 'alias' || kind === 'struct') scope.declaredType(name, at)
      } catch (error) {
        if (!(error instanceof WgslError)) throw error
      }
  }
}

function inSourceOrder<T extends { readonly loc: Location }>(declared: Iterable<T>): T[] {
  return [...declared].sort((a, b) => a.loc.line - b.loc.line || a.loc.column - b.loc.column)
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
      compute.length === 0
        ? 'the module has no compute entry point'
        : `choose one of the entry points ${names}`,
    )
  }
  const chosen = name ?? compute[0]!.name
  const declaration = node.declarations.find((d) => d.kind === 'function' && d.name === chosen)
  if (declaration?.kind !== 'function' || !compute.some((e) => e.name === chosen)) {
    const names = compute.map((e) => `'${e.name}'`).join(', ') || 'none'
    throw text.error(
      declaration?.at ?? 0,
      `the module has no compute entry point '${chosen}'; it has ${names}`,
    )
  }
  return declaration
}

/** The structures that code and variables use, each after those that it contains. */
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
  const visitor: Visitor = {
    expression(e) {
      add(e.type)
    },
    place(p) {
      add(p.type)
    },
    statement(s) {
      if (s.kind === 'let' || s.kind === 'var') add(s.variable.type)
    },
  }
  for (const variable of variables) {
    add(variable.type)
    if (variable.initial) walk(variable.initial, visitor)
  }
  for (const f of functions) {
    for (const parameter of f.parameters) add(parameter.type)
    add(f.returnType)
    walk(f, visitor)
  }
  return [...structs]
}
