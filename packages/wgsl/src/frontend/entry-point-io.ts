import type { StructType, Type } from '../ir.ts'
import { typeName } from '../types.ts'
import type { AttributeNode, FunctionNode, NameNode } from './ast.ts'
import { builtinValues, type Direction } from './builtin-values.ts'
import type { ModuleScope } from './module-scope.ts'
import { scalarOf } from './numeric-types.ts'
import { type Stage, stageOf } from './stages.ts'

const depthModes = ['less', 'greater']
const interpolations = ['perspective', 'linear', 'flat']
const samplings = ['center', 'centroid', 'sample', 'first', 'either']

/** Something with attributes: a parameter, a result, or a member of a structure. */
interface IoNode {
  readonly attributes: readonly AttributeNode[]
  readonly at: number
}

/** The attributes of one input or output. */
export interface Io {
  readonly builtin: AttributeNode | undefined
  readonly builtinName: string
  readonly location: AttributeNode | undefined
  readonly blend: AttributeNode | undefined
  /** Where it comes from or goes to; no two inputs, or outputs, of an entry point have the same key. */
  readonly key: string
  readonly isFlat: boolean
}

/** The extensions that add the built-in value of the same name. */
const builtinExtensions = ['primitive_index', 'clip_distances']

/**
 * Checks the input and output attributes of a structure member, or of a parameter or result of an entry
 * point.
 */
export function checkIo(scope: ModuleScope, { attributes }: IoNode, type: Type): Io {
  const { source } = scope
  const find = (name: string) => attributes.find((a) => a.name === name)
  const [builtin, location, invariant, blend] = ['builtin', 'location', 'invariant', 'blend_src'].map(find)
  const [builtinName = '', depthMode] = namesIn(builtin)
  if (builtin !== undefined) checkBuiltin(scope, builtinName, type, builtin.at)
  if (depthMode !== undefined && !(builtinName === 'frag_depth' && depthModes.includes(depthMode)))
    throw source.error(builtin!.at, `the built-in value ${builtinName} has no mode '${depthMode}'`)
  if (invariant !== undefined && builtinName !== 'position')
    throw source.error(invariant.at, '@invariant applies to @builtin(position) only')
  const place =
    location === undefined ? `@builtin(${builtinName})` : `@location(${locationOf(scope, location, type)})`
  const key = blend === undefined ? place : `${place} @blend_src(${blendSourceOf(scope, blend)})`
  const isFlat = checkInterpolation(scope, find('interpolate'), location)
  return { builtin, builtinName, location, blend, key, isFlat }
}

function checkBuiltin(scope: ModuleScope, name: string, type: Type, at: number): void {
  const rule = builtinValues.get(name)
  if (rule === undefined) throw scope.source.error(at, `'${name}' is not a built-in value of any stage`)
  if (!rule.types.includes(type)) {
    const wanted = rule.types.map(typeName).join(' or ')
    throw scope.source.error(at, `the built-in value ${name} is of type ${wanted}, not ${typeName(type)}`)
  }
  if (builtinExtensions.includes(name) && !scope.isEnabled(name))
    throw scope.source.error(at, `the built-in value ${name} needs 'enable ${name};'`)
  if (/subgroup/.test(name) && !scope.hasSubgroups)
    throw scope.source.error(at, `the built-in value ${name} needs 'enable subgroups;'`)
}

function locationOf({ source, expressions }: ModuleScope, { args, at }: AttributeNode, type: Type): number {
  const location = expressions.constantInteger(args[0]!, 'the @location')
  if (location < 0) throw source.error(at, `@location is ${location}, below 0`)
  const isNumeric = (type.kind === 'scalar' || type.kind === 'vector') && scalarOf(type) !== 'bool'
  if (!isNumeric) throw source.error(at, `@location does not apply to ${typeName(type)}`)
  return location
}

function blendSourceOf(scope: ModuleScope, { args, at }: AttributeNode): number {
  if (!scope.isEnabled('dual_source_blending'))
    throw scope.source.error(at, `@blend_src needs 'enable dual_source_blending;'`)
  return scope.expressions.constantInteger(args[0]!, 'the @blend_src')
}

/**
 * Checks the input and output attributes of the members of a structure, which is allowed even if no entry
 * point uses it.
 */
export function checkMembers(scope: ModuleScope, type: StructType): void {
  const { members } = scope.structNode(type)
  const ios = type.members.map(({ index, type }) => ({ ...checkIo(scope, members[index]!, type), type }))
  const keys = new Set<string>()
  for (const [i, { key, location }] of ios.entries()) {
    if (location !== undefined && keys.has(key))
      throw scope.source.error(members[i]!.at, `two members of ${type.name} have ${key}`)
    keys.add(key)
  }
  const blended = ios.find(({ blend }) => blend !== undefined)?.blend
  const [first, second, ...others] = ios.filter(({ location, blend }) => location ?? blend)
  const arePair =
    [first?.key, second?.key].sort().join() === '@location(0) @blend_src(0),@location(0) @blend_src(1)'
  if (blended !== undefined && !(arePair && first?.type === second?.type && others.length === 0))
    throw scope.source.error(
      blended.at,
      '@blend_src needs two members of one type, @location(0) @blend_src(0) and @location(0) @blend_src(1), and no other @location',
    )
}

/** The arguments of an attribute that takes names. */
function namesIn(attribute: AttributeNode | undefined): string[] {
  return (attribute?.args ?? []).map((arg) => (arg as NameNode).name)
}

/** Checks @interpolate and returns whether it is flat. */
function checkInterpolation(
  { source }: ModuleScope,
  attribute: AttributeNode | undefined,
  location: AttributeNode | undefined,
): boolean {
  if (attribute === undefined) return false
  const { at } = attribute
  if (location === undefined) throw source.error(at, '@interpolate needs @location on the same declaration')
  const [type = '', sampling] = namesIn(attribute)
  if (!interpolations.includes(type)) throw source.error(at, `'${type}' is not an interpolation type`)
  if (sampling === undefined) return type === 'flat'
  if (!samplings.includes(sampling)) throw source.error(at, `'${sampling}' is not an interpolation sampling`)
  const isForFlat = sampling === 'first' || sampling === 'either'
  if (isForFlat !== (type === 'flat'))
    throw source.error(
      at,
      `the interpolation type '${type}' cannot be combined with the sampling '${sampling}'`,
    )
  return type === 'flat'
}

/** Checks the parameters, the result and the attributes of an entry point. */
export function checkEntryPointIo(scope: ModuleScope, node: FunctionNode): void {
  const stage = stageOf(node)!
  const wrong = node.attributes.find((a) => a.name === 'workgroup_size' || a.name === 'subgroup_size')
  if (wrong !== undefined && stage !== 'compute')
    throw scope.source.error(wrong.at, `@${wrong.name} does not apply to ${stage} shaders`)
  const { parameters, returnType } = scope.signature(node)
  if (stage === 'compute' && node.returnType !== undefined)
    throw scope.source.error(node.returnType.at, 'a compute entry point returns nothing')
  const inputs = new StageIo(scope, stage, 'input')
  for (const [i, parameter] of node.parameters.entries()) inputs.add(parameter, parameters[i]!)
  const outputs = new StageIo(scope, stage, 'output')
  if (returnType !== undefined) outputs.add({ attributes: node.returnAttributes, at: node.at }, returnType)
  if (stage === 'vertex' && !outputs.hasBuiltin('position'))
    throw scope.source.error(node.at, `the vertex shader '${node.name}' does not return @builtin(position)`)
}

/** The attributes of members, for structures that many entry points use. */
const checked = new WeakMap<IoNode, Io>()

/** The inputs or the outputs of an entry point. */
class StageIo {
  readonly #scope: ModuleScope
  readonly #stage: Stage
  readonly #direction: Direction
  readonly #seen = new Set<string>()

  constructor(scope: ModuleScope, stage: Stage, direction: Direction) {
    this.#scope = scope
    this.#stage = stage
    this.#direction = direction
  }

  hasBuiltin(name: string): boolean {
    return this.#seen.has(`@builtin(${name})`)
  }

  add(node: IoNode, type: Type): void {
    const blend = node.attributes.find((a) => a.name === 'blend_src')
    if (blend !== undefined)
      throw this.#scope.source.error(blend.at, '@blend_src applies to members of structures only')
    if (type.kind !== 'struct') this.#addOne(node, type)
    else if (node.attributes.length > 0)
      throw this.#scope.source.error(
        node.attributes[0]!.at,
        'a structure needs these attributes on its members',
      )
    else this.#addMembers(type, node.at)
  }

  #addMembers(type: StructType, at: number): void {
    const { members } = this.#scope.structNode(type)
    for (const member of type.members) {
      if (member.type.kind === 'struct')
        throw this.#scope.source.error(
          at,
          `the structure ${type.name} contains a structure, so it cannot be an input or output`,
        )
      this.#addOne(members[member.index]!, member.type)
    }
  }

  #addOne(node: IoNode, type: Type): void {
    const { source } = this.#scope
    const io = checked.get(node) ?? checkIo(this.#scope, node, type)
    checked.set(node, io)
    const what = `${this.#stage} ${this.#direction}` as const
    if ((io.builtin === undefined) === (io.location === undefined))
      throw source.error(node.at, `each ${what} needs @builtin or @location, and not both`)
    if (this.#seen.has(io.key)) throw source.error(node.at, `${io.key} is given to two of the ${what}s`)
    this.#seen.add(io.key)
    if (io.blend !== undefined && what !== 'fragment output')
      throw source.error(io.blend.at, `@blend_src applies to outputs of fragment shaders, not to a ${what}`)
    if (io.builtin !== undefined) {
      if (!builtinValues.get(io.builtinName)!.places.includes(what))
        throw source.error(io.builtin.at, `the built-in value ${io.builtinName} is no ${what}`)
      return
    }
    if (this.#stage === 'compute')
      throw source.error(io.location!.at, '@location does not apply to compute shaders')
    const kind = scalarOf(type)
    const isInteger = kind === 'i32' || kind === 'u32'
    if (isInteger && !io.isFlat && (what === 'vertex output' || what === 'fragment input'))
      throw source.error(node.at, `a ${what} of integers needs @interpolate(flat)`)
  }
}
