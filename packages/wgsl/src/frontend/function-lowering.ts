import type { Block, BuiltinValue, Expression, IrFunction, Location, Parameter, Place, Type } from '../ir.ts'
import { typeName } from '../types.ts'
import { checkBehaviours } from '../validity/behaviour.ts'
import type { AttributeNode, FunctionNode } from './ast.ts'
import { builtinValues } from './builtin-values.ts'
import { FunctionScope } from './function-scope.ts'
import { type PointerBinding, throughParameter } from './pointer-binding.ts'
import type { Declarations } from './scopes.ts'
import { stageOf } from './stages.ts'
import { lowerBlockInScope } from './statements.ts'

/** Lowers one function. */
export class FunctionLowering extends FunctionScope {
  readonly #bindings: readonly (PointerBinding | undefined)[]
  readonly #builtins = new Set<string>()
  readonly #parameters: Parameter[] = []
  #function: { -readonly [K in keyof IrFunction]: IrFunction[K] } | undefined

  constructor(
    module: Declarations,
    declaration: FunctionNode,
    bindings: readonly (PointerBinding | undefined)[],
  ) {
    super(module, declaration)
    this.#bindings = bindings
  }

  /**
   * Creates the function with its parameters, so that it can be called; its body is empty until `lowerBody`.
   * Because functions are not lowered inside one another, a long chain of calls does not overflow the stack.
   */
  declareFunction(): IrFunction {
    const { name, at, attributes } = this.declaration
    const { returnType } = this.module.signature(this.declaration)
    const mustUse = attributes.find((a) => a.name === 'must_use')
    if (mustUse !== undefined && returnType === undefined)
      throw this.error(mustUse.at, `@must_use does not apply to '${name}', which returns nothing`)
    const loc = this.loc(at)
    if (stageOf(this.declaration) === undefined) this.#declareParameters()
    const body: Block = { kind: 'block', statements: [], loc }
    this.#function = { kind: 'function', id: -1, name, parameters: this.#parameters, returnType, body, loc }
    return this.#function
  }

  /** Lowers the body of the declared function. */
  lowerBody(): void {
    const made = this.#function!
    const stage = stageOf(this.declaration)
    const prologue = this.collect(() => {
      if (stage === 'compute') this.#entryPoint()
      else if (stage !== undefined) this.#renderStage()
    })
    // The body shares its scope with the parameters.
    const body = lowerBlockInScope(this, this.declaration.body)
    made.id = this.module.newId()
    made.body = { ...body, statements: [...prologue, ...body.statements] }
    const { source } = this.module
    checkBehaviours(made, this.loc(this.declaration.body.end), (loc, text) => source.errorAt(loc, text))
  }

  #declareParameters(): void {
    const { declaration } = this
    const signature = this.module.signature(declaration)
    for (const attribute of declaration.attributes) {
      if (attribute.name !== 'must_use')
        throw this.error(attribute.at, `@${attribute.name} does not apply to this function`)
    }
    for (const attribute of declaration.returnAttributes)
      throw this.error(attribute.at, `@${attribute.name} applies to results of entry points only`)
    for (const [i, node] of declaration.parameters.entries()) {
      for (const attribute of node.attributes) {
        throw this.error(attribute.at, `@${attribute.name} applies to parameters of entry points only`)
      }
      this.#declareParameter(i, signature.parameters[i]!)
    }
  }

  #newParameter(name: string, type: Type, builtin: BuiltinValue | undefined, loc: Location): Parameter {
    const isRenderInput = builtin === undefined && stageOf(this.declaration) !== undefined
    const id = this.module.newId()
    const parameter: Parameter = { kind: 'parameter', id, name, type, builtin, isRenderInput, loc }
    this.#parameters.push(parameter)
    return parameter
  }

  #declareParameter(position: number, type: Type): void {
    const { name, at } = this.declaration.parameters[position]!
    const binding = this.#bindings[position]
    const make = (made: string, type: Type) => this.#newParameter(made, type, undefined, this.loc(at))
    if (type.kind !== 'pointer') {
      const parameter = make(name, type)
      this.declare(name, at, (use) => {
        const expression: Expression = { kind: 'value', value: parameter, type, loc: this.loc(use) }
        return { kind: 'runtime', type, expression, at: use }
      })
    } else if (binding !== undefined) {
      const indices = binding.indexTypes.map((t, i) => make(`${name}_index${i === 0 ? '' : i}`, t))
      const place = throughParameter(binding.place(indices), position)
      this.declare(name, at, (use) => ({ kind: 'pointer', type, place, at: use }))
    } else {
      const pointer = make(name, type)
      this.declare(name, at, (use) => {
        const place: Place = {
          kind: 'deref',
          pointer,
          parameter: position,
          type: type.store,
          loc: this.loc(use),
        }
        return { kind: 'pointer', type, place, at: use }
      })
    }
  }

  /** Turns each built-in value into a parameter and builds structures from these. */
  #entryPoint(): void {
    const { returnType } = this.declaration
    if (returnType !== undefined) throw this.error(returnType.at, 'a compute entry point returns nothing')
    for (const node of this.declaration.parameters) this.#entryParameter(node)
  }

  /** Lowers an entry point of a vertex or fragment shader, only to check it. */
  #renderStage(): void {
    const signature = this.module.signature(this.declaration)
    for (const [i, type] of signature.parameters.entries()) this.#declareParameter(i, type)
  }

  #entryParameter(node: FunctionNode['parameters'][number]): void {
    const { name, at, attributes } = node
    const type = this.module.signature(this.declaration).parameters[
      this.declaration.parameters.indexOf(node)
    ]!
    const loc = this.loc(at)
    const make = (made: string, type: Type, list: readonly AttributeNode[], where: number): Expression => {
      const builtin = this.#builtin(made, type, list, where)
      return { kind: 'value', value: this.#newParameter(made, type, builtin, loc), type, loc }
    }
    if (type.kind !== 'struct') {
      const value = make(name, type, attributes, at)
      this.declare(name, at, (use) => ({
        kind: 'runtime',
        type,
        expression: { ...value, loc: this.loc(use) },
        at: use,
      }))
      return
    }
    const structNode = this.module.structNode(type)
    const args = type.members.map((m) =>
      make(m.name, m.type, structNode.members[m.index]!.attributes, structNode.members[m.index]!.at),
    )
    this.declareLet(name, at, { kind: 'construct', args, type, loc })
  }

  #builtin(name: string, type: Type, attributes: readonly AttributeNode[], at: number): BuiltinValue {
    const attribute = attributes.find((a) => a.name === 'builtin')
    const other = attributes.find((a) => !['builtin', 'align', 'size'].includes(a.name))
    if (other !== undefined) throw this.error(other.at, `@${other.name} does not apply to compute shaders`)
    const value = attribute?.args[0]
    if (value?.kind !== 'name') throw this.error(at, `the entry point's parameter '${name}' needs @builtin`)
    const wanted = builtinValues.get(value.name)
    if (!wanted?.places.includes('compute input'))
      throw this.error(value.at, `'${value.name}' is not a built-in value of compute shaders`)
    if (this.#builtins.has(value.name))
      throw this.error(at, `the built-in value ${value.name} is taken twice`)
    this.#builtins.add(value.name)
    if (wanted.type !== type)
      throw this.error(
        at,
        `the built-in value ${value.name} is of type ${typeName(wanted.type)}, not ${typeName(type)}`,
      )
    if (/subgroup/.test(value.name) && !this.module.hasSubgroups) {
      throw this.error(value.at, `the built-in value ${value.name} needs 'enable subgroups;'`)
    }
    return value.name as BuiltinValue
  }
}
