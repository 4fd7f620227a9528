import type { StructType, Type } from '../ir.ts'
import { typeName } from '../types.ts'
import type { AttributeNode, FunctionNode } from './ast.ts'
import { builtinValues, type Direction } from './builtin-values.ts'
import type { ModuleScope } from './module-scope.ts'
import { scalarOf } from './numeric-types.ts'
import { type Stage, stageOf } from './stages.ts'

const interpolations = ['perspective', 'linear', 'flat']
const samplings = ['center', 'centroid', 'sample', 'first', 'either']

/** Something with attributes: a parameter, a result, or a member of a structure. */
interface IoNode {
  readonly attributes: readonly AttributeNode[]
  readonly at: number
}

/** The attributes of one input or output. */
interface Io {
  readonly builtin: AttributeNode | undefined
  readonly builtinName: string
  readonly location: AttributeNode | undefined
  readonly locationNumber: number
  readonly isFlat: boolean
}

/**
 * Checks the input and output attributes of a structure member, or of a parameter or result of an entry
 * point.
 */
export function checkIo(scope: ModuleScope, { attributes }: IoNode, type: Type): Io {
  const { source, expressions } = scope
  const find = (name: string) => attributes.find((a) => a.name === name)
  const [builtin, location, invariant] = [find('builtin'), find('location'), find('invariant')]
  if (builtin !== undefined && location !== undefined)
    throw source.error(location.at, '@builtin and @location cannot be combined')
  const builtinName = builtin === undefined ? '' : nameIn(builtin)
  if (builtin !== undefined) {
    const rule = builtinValues.get(builtinName)
    if (builtinName === 'clip_distances')
      throw source.unsupported(builtin.at, 'clip distances are not supported')
    if (rule === undefined)
      throw source.error(builtin.at, `'${builtinName}' is not a built-in value of any stage`)
    if (rule.type !== type) {
      throw source.error(
        builtin.at,
        `the built-in value ${builtinName} is of type ${typeName(rule.type)}, not ${typeName(type)}`,
      )
    }
    if (builtinName === 'primitive_index' && !scope.isEnabled('primitive_index'))
      throw source.error(builtin.at, `the built-in value primitive_index needs 'enable primitive_index;'`)
    if (/subgroup/.test(builtinName) && !scope.hasSubgroups)
      throw source.error(builtin.at, `the built-in value ${builtinName} needs 'enable subgroups;'`)
  }
  if (invariant !== undefined && builtinName !== 'position')
    throw source.error(invariant.at, '@invariant applies to @builtin(position) only')
  let locationNumber = -1
  if (location !== undefined) {
    locationNumber = expressions.constantInteger(location.args[0]!, 'the @location')
    if (locationNumber < 0) throw source.error(location.at, `@location is ${locationNumber}, below 0`)
    const isNumeric = (type.kind === 'scalar' || type.kind === 'vector') && scalarOf(type) !== 'bool'
    if (!isNumeric) throw source.error(location.at, `@location does not apply to ${typeName(type)}`)
  }
  const blend = find('blend_src')
  if (blend !== undefined && !scope.isEnabled('dual_source_blending'))
    throw source.error(blend.at, `@blend_src needs 'enable dual_source_blending;'`)
  const isFlat = checkInterpolation(scope, find('interpolate'), location)
  return { builtin, builtinName, location, locationNumber, isFlat }
}

function nameIn({ args: [node] }: AttributeNode): string {
  return node?.kind === 'name' && node.templates === undefined ? node.name : ''
}

/** Checks @interpolate and returns whether it is flat. */
function checkInterpolation(
  { source }: ModuleScope,
  attribute: AttributeNode | undefined,
  location: AttributeNode | undefined,
): boolean {
  if (attribute === undefined) return false
  const { at, args } = attribute
  if (location === undefined) throw source.error(at, '@interpolate needs @location on the same declaration')
  const names = args.map((arg) => (arg.kind === 'name' ? arg.name : ''))
  const [type = '', sampling] = names
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
  const inputs = new StageIo(scope, stage, 'input')
  for (const [i, parameter] of node.parameters.entries()) inputs.add(parameter, parameters[i]!)
  const outputs = new StageIo(scope, stage, 'output')
  if (returnType !== undefined) outputs.add({ attributes: node.returnAttributes, at: node.at }, returnType)
  if (stage === 'vertex' && !outputs.hasBuiltin('position'))
    throw scope.source.error(node.at, `the vertex shader '${node.name}' does not return @builtin(position)`)
}

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
    const io = checkIo(this.#scope, node, type)
    const what = `${this.#stage} ${this.#direction}` as const
    if (io.builtin === undefined && io.location === undefined)
      throw source.error(node.at, `each ${what} needs @builtin or @location`)
    const key = io.builtin ? `@builtin(${io.builtinName})` : `@location(${io.locationNumber})`
    if (this.#seen.has(key) && !node.attributes.some((a) => a.name === 'blend_src'))
      throw source.error(node.at, `${key} is given to two of the ${what}s`)
    this.#seen.add(key)
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
