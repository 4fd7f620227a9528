import type { Block, BuiltinValue, Expression, IrFunction, Location, Parameter, Place, Type } from '../ir.ts'
import { checkBehaviours } from '../validity/behaviour.ts'
import type { AttributeNode, FunctionNode, NameNode } from './ast.ts'
import { FunctionScope } from './function-scope.ts'
import { type PointerBinding, throughParameter } from './pointer-binding.ts'
import type { Declarations } from './scopes.ts'
import { stageOf } from './stages.ts'
import { lowerBlockInScope } from './statements.ts'

/** Lowers one function. */
export class FunctionLowering extends FunctionScope {
  readonly #bindings: readonly (PointerBinding | undefined)[]
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
      if (stage === 'compute')
        for (const [i, node] of this.declaration.parameters.entries()) this.#entryParameter(i, node)
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

  /** Lowers an entry point of a vertex or fragment shader, only to check it. */
  #renderStage(): void {
    const signature = this.module.signature(this.declaration)
    for (const [i, type] of signature.parameters.entries()) this.#declareParameter(i, type)
  }

  /** Turns each built-in value into a parameter and builds structures from these. */
  #entryParameter(position: number, node: FunctionNode['parameters'][number]): void {
    const { name, at, attributes } = node
    const type = this.module.signature(this.declaration).parameters[position]!
    const loc = this.loc(at)
    const make = (made: string, type: Type, list: readonly AttributeNode[]): Expression => {
      const [builtin] = list.find((a) => a.name === 'builtin')!.args as [NameNode]
      const value = this.#newParameter(made, type, builtin.name as BuiltinValue, loc)
      return { kind: 'value', value, type, loc }
    }
    if (type.kind !== 'struct') {
      const value = make(name, type, attributes)
      this.declare(name, at, (use) => ({
        kind: 'runtime',
        type,
        expression: { ...value, loc: this.loc(use) },
        at: use,
      }))
      return
    }
    const structNode = this.module.structNode(type)
    const args = type.members.map((m) => make(m.name, m.type, structNode.members[m.index]!.attributes))
    this.declareLet(name, at, { kind: 'construct', args, type, loc })
  }
}
