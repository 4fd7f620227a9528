import { builtinFacts } from '../builtin-functions.ts'
import type {
  BinaryOperator,
  Block,
  Evaluated,
  Expression,
  IrFunction,
  IrModule,
  Location,
  Place,
  Statement,
  Type,
} from '../ir.ts'
import { sizeOf } from '../layout.ts'
import * as types from '../types.ts'
import { hasParts, isIndexType, isMemberOf, isOf, isValueType, shape } from './type-rules.ts'

/**
 * Throws if a module violates a guarantee that `ir.ts` documents for emitters, at its top or on its nodes.
 */
export function verifyIr(module: IrModule): void {
  new Verifier(module).module()
}

class Verifier {
  readonly #module: IrModule
  /** The structures, variables and constants that the module lists. */
  readonly #listed: ReadonlySet<object>
  readonly #ids = new Set<number>()
  readonly #statements = new Set<Statement>()
  /** Lets, parameters and local variables that are in scope. */
  #scope = new Set<object>()
  #function: IrFunction
  readonly #verified = new Set<IrFunction>()
  #loops = 0
  #breakable = 0

  constructor(module: IrModule) {
    this.#module = module
    this.#listed = new Set<object>([...module.structs, ...module.variables, ...module.constants])
    this.#function = module.entryPoint
  }

  module(): void {
    const { functions, entryPoint, variables, constants } = this.#module
    const loc = entryPoint.loc
    this.#check(functions.at(-1) === entryPoint, loc, 'the entry point comes last')
    this.#check(entryPoint.returnType === undefined, loc, 'an entry point returns nothing')
    for (const p of entryPoint.parameters)
      this.#check(p.builtin !== undefined, p.loc, 'entry points have no parameters but built-in values')
    for (const v of variables) {
      this.#id(v.id, v.loc)
      this.#type(v.type, v.loc)
      const isBound = v.space === 'storage' || v.space === 'uniform'
      this.#check((v.binding !== undefined) === isBound, v.loc, 'storage and uniform variables have bindings')
      if (v.initial?.kind === 'constant') this.#value(v.initial, v.type)
      else if (v.initial !== undefined) this.#constant(v.initial)
    }
    for (const c of constants) {
      this.#id(c.id, c.loc)
      this.#constant(c.value)
    }
    for (const f of functions) {
      this.#id(f.id, f.loc)
      this.#function = f
      this.#scope = new Set()
      for (const p of f.parameters) {
        this.#id(p.id, p.loc)
        this.#type(p.type, p.loc)
        const isFunctionPointer = p.type.kind !== 'pointer' || p.type.space === 'function'
        this.#check(isFunctionPointer, p.loc, 'pointer parameters are into the address space function')
        this.#scope.add(p)
      }
      this.#block(f.body)
      this.#verified.add(f)
    }
  }

  #check(holds: boolean, loc: Location, promise: string): asserts holds {
    if (!holds)
      throw new Error(`${this.#module.label}:${loc.line}:${loc.column}: the IR breaks a promise: ${promise}`)
  }

  #id(id: number, loc: Location): void {
    this.#check(!this.#ids.has(id), loc, `the id ${id} is unique`)
    this.#ids.add(id)
  }

  /** Types are interned, and concrete. */
  #type(type: Type, loc: Location): void {
    const interned = ((): Type => {
      switch (type.kind) {
        case 'scalar':
          return types.scalarType(type.scalar)
        case 'vector':
          return types.vectorType(type.size, type.scalar)
        case 'matrix':
          return types.matrixType(type.columns, type.rows, type.scalar)
        case 'atomic':
          return type.wide ? types.wideAtomicType : types.atomicType(type.scalar)
        case 'array':
          this.#type(type.element, loc)
          return types.arrayType(type.element, type.length)
        case 'pointer':
          this.#type(type.store, loc)
          return types.pointerType(type.space, type.store, type.access)
        case 'buffer':
          return types.bufferType(type.length)
        case 'subgroup-matrix':
          return types.subgroupMatrixType(type.role, type.component, type.columns, type.rows)
        case 'struct':
          this.#check(this.#listed.has(type), loc, `the structure ${type.name} is listed`)
          return type
      }
    })()
    this.#check(interned === type, loc, `the type ${types.typeName(type)} is interned`)
    if ('scalar' in type)
      this.#check(/^(bool|i32|u32|f32|f16)$/.test(type.scalar), loc, 'scalars are concrete')
  }

  // --------------------------------------------------------------------------------------------------
  // statements

  #block(block: Block): void {
    const outer = this.#scope
    this.#scope = new Set(outer)
    for (const s of block.statements) this.#statement(s)
    this.#scope = outer
  }

  #declare(variable: { id: number; type: Type; loc: Location }): void {
    this.#id(variable.id, variable.loc)
    this.#type(variable.type, variable.loc)
    this.#check(variable.type.kind !== 'pointer', variable.loc, 'lets and variables hold no pointers')
    this.#scope.add(variable)
  }

  #statement(s: Statement): void {
    this.#check(!this.#statements.has(s), s.loc, 'a statement stands at one place')
    this.#statements.add(s)
    switch (s.kind) {
      case 'block':
        this.#block(s)
        return
      case 'let':
        this.#value(s.value, s.variable.type)
        this.#declare(s.variable)
        return
      case 'var':
        if (s.initial !== undefined) this.#value(s.initial, s.variable.type)
        this.#declare(s.variable)
        return
      case 'assign':
        this.#target(s.target)
        this.#value(s.value, s.target.type)
        return
      case 'compound-assign':
        this.#target(s.target)
        this.#value(s.value)
        this.#operands(s.operator, s.target.type, s.value.type, s.target.type, s.loc)
        return
      case 'evaluate':
        if (s.value.kind === 'call' || s.value.kind === 'builtin-call') this.#expression(s.value)
        else this.#value(s.value)
        return
      case 'if':
        this.#value(s.condition, types.boolType)
        this.#block(s.then)
        if (s.otherwise !== undefined) this.#block(s.otherwise)
        return
      case 'switch': {
        this.#value(s.selector)
        this.#check(isIndexType(s.selector.type), s.loc, 'a selector is i32 or u32')
        const defaults = s.clauses.filter((c) => c.isDefault).length
        this.#check(defaults === 1, s.loc, 'a switch has one default')
        const selectors = s.clauses.flatMap((c) => [...c.selectors])
        this.#check(new Set(selectors).size === selectors.length, s.loc, 'selectors differ')
        this.#breakable++
        for (const clause of s.clauses) this.#block(clause.body)
        this.#breakable--
        return
      }
      case 'loop': {
        const outer = this.#scope
        this.#inLoop(() => {
          this.#scope = new Set(outer)
          for (const inner of s.body.statements) this.#statement(inner)
        })
        for (const inner of s.continuing?.statements ?? []) this.#statement(inner)
        if (s.breakIf !== undefined) this.#value(s.breakIf, types.boolType)
        this.#scope = outer
        return
      }
      case 'for': {
        const outer = this.#scope
        this.#scope = new Set(outer)
        if (s.initial !== undefined) this.#statement(s.initial)
        if (s.condition !== undefined) this.#value(s.condition, types.boolType)
        this.#inLoop(() => this.#block(s.body))
        if (s.update !== undefined) this.#statement(s.update)
        this.#scope = outer
        return
      }
      case 'break':
        this.#check(this.#breakable > 0, s.loc, 'a break stands in a loop or a switch')
        return
      case 'continue':
        this.#check(this.#loops > 0, s.loc, 'a continue stands in a loop')
        return
      case 'return':
        if (s.value !== undefined) this.#value(s.value, this.#function.returnType)
        else
          this.#check(
            this.#function.returnType === undefined,
            s.loc,
            'a return gives the value of its function',
          )
        return
    }
  }

  #inLoop(inside: () => void): void {
    this.#loops++
    this.#breakable++
    inside()
    this.#loops--
    this.#breakable--
  }

  // ------------------------------------------------------------------------------------------------------
  // places

  #target(place: Place): void {
    this.#place(place)
    this.#check(place.type.kind !== 'atomic', place.loc, 'atomics change only by built-in functions')
  }

  #place(place: Place): void {
    this.#type(place.type, place.loc)
    const { loc } = place
    switch (place.kind) {
      case 'variable': {
        const v = place.variable
        if (v.kind === 'local-variable') this.#check(this.#scope.has(v), loc, `${v.name} is in scope`)
        else this.#check(this.#listed.has(v), loc, `${v.name} is listed`)
        const isWhole = place.type === v.type || (place.type.kind === 'buffer' && v.type.kind === 'buffer')
        this.#check(isWhole, loc, 'a variable has its type')
        return
      }
      case 'deref': {
        const { type } = place.pointer
        this.#check(this.#scope.has(place.pointer), loc, `${place.pointer.name} is in scope`)
        this.#check(
          type.kind === 'pointer' && type.store === place.type,
          loc,
          'a deref gives what is pointed to',
        )
        return
      }
      case 'member-place':
        this.#place(place.base)
        this.#check(isMemberOf(place.base.type, place), loc, 'a member belongs to its structure')
        return
      case 'index-place':
        this.#place(place.base)
        this.#indexed(place.base.type, place.index, place.type, loc)
        return
      case 'component-place': {
        this.#place(place.base)
        const { type } = place.base
        const fits = type.kind === 'vector' && place.component < type.size
        this.#check(fits && place.type.scalar === type.scalar, loc, 'a component is one of its vector')
        return
      }
      case 'view-place':
        this.#check(
          place.base.kind === 'variable' && place.base.type.kind === 'buffer',
          loc,
          'a view is of a buffer',
        )
        for (const e of [place.offset, ...(place.size === undefined ? [] : [place.size])]) {
          this.#value(e)
          this.#check(isIndexType(e.type), loc, 'offset and size of a view are i32 or u32')
        }
        return
    }
  }

  #indexed(base: Type | undefined, index: Expression, type: Type, loc: Location): void {
    this.#value(index)
    this.#check(isIndexType(index.type), loc, 'an index is i32 or u32')
    const element =
      base?.kind === 'array'
        ? base.element
        : base?.kind === 'matrix'
          ? types.vectorType(base.rows, base.scalar)
          : base?.kind === 'vector'
            ? types.scalarType(base.scalar)
            : undefined
    this.#check(element === type, loc, 'an index gives an element')
  }

  // --------------------------------------------------------------------------------------------------
  // expressions

  /** An expression that has a value, of the given type if one is given. */
  #value(e: Expression, type?: Type): void {
    this.#expression(e)
    this.#check(e.kind !== 'address-of' && e.type.kind !== 'pointer', e.loc, 'pointers are only arguments')
    if (type !== undefined)
      this.#check(
        e.type === type,
        e.loc,
        `${e.kind} is ${types.typeName(type)}, not ${types.typeName(e.type)}`,
      )
  }

  /** A constant: `construct`, `splat`, `zero` and `literal` only. */
  #constant(e: Expression): void {
    this.#check(/^(construct|splat|zero|literal)$/.test(e.kind), e.loc, 'a constant is folded')
    if (e.kind === 'construct') for (const a of e.args) this.#constant(a)
    if (e.kind === 'splat') this.#constant(e.value)
    this.#value(e)
  }

  #expression(e: Evaluated): void {
    if (e.type !== undefined) this.#type(e.type, e.loc)
    this.#check(e.loc.line >= 1 && e.loc.column >= 1, e.loc, 'every expression has a location')
    switch (e.kind) {
      case 'literal':
        this.#check(isOf(e.type.scalar, e.value), e.loc, `${e.value} is a value of ${e.type.scalar}`)
        return
      case 'zero':
        return
      case 'splat':
        this.#value(e.value, types.scalarType(e.type.scalar))
        return
      case 'construct': {
        for (const a of e.args) this.#value(a)
        const given = e.args.map((a) => a.type)
        this.#check(hasParts(e.type, given), e.loc, 'the parts of a construct make up its type')
        return
      }
      case 'convert':
        this.#value(e.value)
        this.#check(
          e.value.type !== e.type && shape(e.value.type) === shape(e.type),
          e.loc,
          'a conversion changes scalars',
        )
        return
      case 'bitcast':
        this.#value(e.value)
        this.#check(
          e.value.type !== e.type && sizeOf(e.value.type) === sizeOf(e.type),
          e.loc,
          'a bitcast keeps the size',
        )
        return
      case 'value':
        this.#check(this.#scope.has(e.value), e.loc, `${e.value.name} is in scope`)
        this.#check(e.type === e.value.type, e.loc, 'a value has its type')
        return
      case 'constant':
        this.#check(this.#listed.has(e.constant), e.loc, `${e.constant.name} is listed`)
        return
      case 'load':
        this.#place(e.place)
        this.#check(
          e.type === e.place.type && isValueType(e.type),
          e.loc,
          'a load gives a value of its place',
        )
        return
      case 'address-of':
        this.#place(e.place)
        this.#check(e.type.store === e.place.type, e.loc, 'an address points to its place')
        return
      case 'member':
        this.#value(e.base)
        this.#check(isMemberOf(e.base.type, e), e.loc, 'a member belongs to its structure')
        return
      case 'index':
        this.#value(e.base)
        this.#indexed(e.base.type, e.index, e.type, e.loc)
        return
      case 'swizzle': {
        this.#value(e.base)
        const base = e.base.type
        this.#check(
          base.kind === 'vector' && e.components.every((c) => c < base.size),
          e.loc,
          'a swizzle takes components',
        )
        const count = e.components.length
        const type = count === 1 ? types.scalarType(base.scalar) : types.vectorType(count as 2, base.scalar)
        this.#check(e.type === type, e.loc, 'a swizzle has a component for each letter')
        return
      }
      case 'unary':
        this.#value(e.value, e.type)
        return
      case 'binary':
        this.#value(e.left)
        this.#value(e.right)
        this.#operands(e.operator, e.left.type, e.right.type, e.type, e.loc)
        return
      case 'logical':
        this.#value(e.left, types.boolType)
        this.#value(e.right, types.boolType)
        return
      case 'builtin-call':
        for (const [i, a] of e.args.entries()) {
          if (a.kind !== 'address-of') this.#value(a)
          else {
            this.#check(
              i === 0 && builtinFacts[e.name].pointer !== undefined,
              a.loc,
              `${e.name} takes no address`,
            )
            this.#expression(a)
          }
        }
        return
      case 'call': {
        this.#check(this.#verified.has(e.function), e.loc, 'callees come before callers')
        const { parameters } = e.function
        this.#check(parameters.length === e.args.length, e.loc, 'a call has an argument for each parameter')
        for (const [i, a] of e.args.entries()) {
          if (a.kind === 'address-of') this.#expression(a)
          else this.#value(a)
          this.#check(a.type === parameters[i]!.type, a.loc, `argument ${i} has the type of its parameter`)
        }
        this.#check(e.type === e.function.returnType, e.loc, 'a call has the type of its function')
        return
      }
    }
  }

  #operands(operator: BinaryOperator, left: Type, right: Type, result: Type, loc: Location): void {
    const scalar = (t: Type) => ('scalar' in t ? t.scalar : undefined)
    const isComparison = /^([<>]=?|[=!]=)$/.test(operator)
    if (operator === '<<' || operator === '>>') {
      this.#check(
        scalar(right) === 'u32' && shape(left) === shape(right),
        loc,
        'a shift takes amounts of u32',
      )
      this.#check(result === left, loc, 'a shift has the type of its left side')
    } else if (left !== right) {
      const kinds = `${left.kind} ${right.kind}`
      const isMixed = '+-*/%'.includes(operator) && (kinds === 'vector scalar' || kinds === 'scalar vector')
      const isAlgebra = operator === '*' && kinds.includes('matrix')
      this.#check(isMixed || isAlgebra, loc, `${operator} takes operands of equal types`)
      this.#check(
        scalar(left) === scalar(right) && scalar(result) === scalar(left),
        loc,
        'mixed operands are of one kind',
      )
    } else if (isComparison) {
      this.#check(scalar(result) === 'bool' && shape(result) === shape(left), loc, 'a comparison gives bools')
    } else
      this.#check(result === left || left.kind === 'matrix', loc, `${operator} has the type of its operands`)
  }
}
