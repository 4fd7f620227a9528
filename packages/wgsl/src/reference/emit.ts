import { builtinFacts } from '../builtin-functions.ts'
import { isCollective } from '../collectives.ts'
import type {
  BuiltinCall,
  Evaluated,
  Expression,
  IrFunction,
  IrModule,
  Place,
  Statement,
  Type,
  ViewPlace,
} from '../ir.ts'
import { elementCount } from '../types.ts'
import { componentFunction } from '../values/functions.ts'
import { addressed, rootOf, some, walk } from '../walk.ts'
import { type Instrumentation, plain } from './instrumentation.ts'
import {
  binaryText,
  componentText,
  convertText,
  copyText,
  inlineScalar,
  isComposite,
  type NameFunction,
  scalarOf,
  unaryText,
} from './operator-text.ts'
import { boundLength, byteOffset, type PlaceWriter, placeText } from './place-text.ts'
import { subgroupMatrixText } from './subgroup-matrix-text.ts'
import { reductions } from './subgroups.ts'
import { boundMemory } from './views.ts'

/**
 * JavaScript of one entry point: a function body that returns `entry`, a (generator) function of an
 * invocation, and `privates`, pairs of a private variable's id and a function that returns its initial value.
 */
export interface EmittedModule {
  readonly body: string
  /** Types that the code refers to as `T[i]`. */
  readonly types: readonly Type[]
  /** Whether invocations wait for each other, so that `entry` returns a generator. */
  readonly meets: boolean
}

/**
 * Emits JavaScript for `module`. Every local of a function is hoisted to its top (WGSL has no recursion),
 * functions that reach a barrier are generators that yield at it, and all memory but bindings is nested
 * JavaScript arrays.
 */
export function emitModule(module: IrModule, instrumentation: Instrumentation = plain): EmittedModule {
  const types: Type[] = []
  const generators = meetingFunctions(module)
  const shared: Shared = { types, generators, positions: 0, named: new Map() }
  const constants = module.constants.map(
    (constant) => `const c${constant.id} = ${new FunctionEmitter(shared, plain).value(constant.value)};`,
  )
  const functions = module.functions.map((f) => new FunctionEmitter(shared, instrumentation).function(f))
  const privates = module.variables
    .filter((v) => v.space === 'private')
    .map((v) => {
      const emitter = new FunctionEmitter(shared, plain)
      return `[${v.id}, () => ${emitter.initialValue(v.initial, v.type)}]`
    })
  return {
    body: [
      ...[...shared.named].map(([text, name]) => `const ${name} = ${text};`),
      ...constants,
      ...functions,
      `return { entry: f${module.entryPoint.id}, privates: [${privates.join(', ')}] };`,
    ].join('\n'),
    types,
    meets: generators.has(module.entryPoint),
  }
}

function meetingFunctions(module: IrModule): ReadonlySet<IrFunction> {
  const found = new Set<IrFunction>()
  for (const f of module.functions) {
    walk(f, {
      expression(e) {
        if (e.kind === 'builtin-call' && isCollective(e)) found.add(f)
        if (e.kind === 'call' && found.has(e.function)) found.add(f)
      },
    })
  }
  return found
}

/** The state that the functions of a module share. */
interface Shared {
  readonly types: Type[]
  /** Functions in which invocations wait for each other. */
  readonly generators: ReadonlySet<IrFunction>
  /** The number of calls and loops so far that may be in a path of an `Exchange`, in the order of the text. */
  positions: number
  /** The names of functions that are created once, by their texts. */
  readonly named: Map<string, string>
}

class FunctionEmitter implements PlaceWriter {
  readonly #types: Type[]
  readonly #generators: ReadonlySet<IrFunction>
  readonly instrumentation: Instrumentation
  readonly #locals = new Set<string>()
  /** The variables that hold the lengths of views. */
  readonly viewLengths = new Map<ViewPlace, string>()
  readonly #shared: Shared
  readonly #name: NameFunction
  #nextTemporary = 0
  #nextLabel = 0
  #breakLabels: string[] = []
  #continueLabels: string[] = []
  /** Whether invocations wait for each other in the function. */
  #meets = false
  /** For each loop around the current statement, its position and the variable that counts its rounds. */
  readonly #rounds: string[] = []

  constructor(module: Shared, instrumentation: Instrumentation) {
    this.#types = module.types
    this.#generators = module.generators
    this.#shared = module
    this.#name = (text) => {
      const name = module.named.get(text) ?? `o${module.named.size}`
      module.named.set(text, name)
      return name
    }
    this.instrumentation = instrumentation
  }

  /** The path of a call (see `Exchange`): that of the function, the loops around the call, and the call. */
  #path(): string {
    return `[${['...path', ...this.#rounds, this.#shared.positions++].join(', ')}]`
  }

  function(f: IrFunction): string {
    this.#meets = this.#generators.has(f)
    const body = this.#statement(f.body)
    const star = this.#meets ? '*' : ''
    const head = this.#meets ? ['inv', 'path = []'] : ['inv']
    const parameters = [...head, ...f.parameters.map((p) => `v${p.id}`)]
    const entry = f.parameters.filter((p) => p.builtin !== undefined)
    const preamble = entry.map((p) => `v${p.id} = inv.${p.builtin};`).join(' ')
    const locals = [...this.#locals]
    const declaration = locals.length === 0 ? '' : `let ${locals.join(', ')};\n`
    return `function${star} f${f.id}(${parameters.join(', ')}) {\n${declaration}${preamble}\n${body}\n}`
  }

  initialValue(initial: Expression | undefined, type: Type): string {
    return initial === undefined ? `R.zero(${this.type(type)})` : this.value(initial)
  }

  type(type: Type): string {
    let index = this.#types.indexOf(type)
    if (index < 0) index = this.#types.push(type) - 1
    return `T[${index}]`
  }

  temporary(): string {
    const name = `t${this.#nextTemporary++}`
    this.#locals.add(name)
    return name
  }

  local(id: number): string {
    const name = `v${id}`
    this.#locals.add(name)
    return name
  }

  // --------------------------------------------------------------------------------------------------
  // statements

  #statement(s: Statement): string {
    return (s.kind === 'block' ? '' : this.instrumentation.reached(s)) + this.#statementText(s)
  }

  #statementText(s: Statement): string {
    switch (s.kind) {
      case 'block':
        return `{\n${s.statements.map((inner) => this.#statement(inner)).join('\n')}\n}`
      case 'let':
        return `${this.local(s.variable.id)} = ${this.value(s.value)};`
      case 'var':
        return `${this.local(s.variable.id)} = ${this.initialValue(s.initial, s.variable.type)};`
      case 'assign': {
        const place = placeText(this, s.target, 'store')
        if (!mayReplaceMemory(s.value)) return `${place.prepare}${place.store(this.value(s.value))};`
        const value = this.temporary()
        return `${place.prepare}${value} = ${this.value(s.value)}; ${place.store(value)};`
      }
      case 'compound-assign': {
        const place = placeText(this, s.target, 'load-store')
        const [old, value] = [this.temporary(), this.temporary()]
        const result = binaryText(this.#name, s.operator, old, value, s.target.type, s.value.type)
        const load = mayReplaceMemory(s.value) ? place.load : place.raw
        return `${place.prepare}${old} = ${load}; ${value} = ${this.#operands([s.value])[0]}; ${place.store(result)};`
      }
      case 'evaluate':
        return `${this.value(s.value)};`
      case 'if': {
        const then = `if (${this.value(s.condition)}) ${this.#statement(s.then)}`
        return s.otherwise === undefined ? then : `${then} else ${this.#statement(s.otherwise)}`
      }
      case 'switch': {
        const label = `s${this.#nextLabel++}`
        // V8 ends the process over a table of jumps up to its greatest small integer: 2^31 - 1 or 2^30 - 1.
        const shift = s.clauses.some((c) => c.selectors.some((one) => one > 2 ** 30 - 2)) ? 0.5 : 0
        const selector = `(${this.value(s.selector)}) + ${shift}`
        this.#breakLabels.push(label)
        const clauses = s.clauses.map((clause) => {
          const heads = clause.selectors.map((one) => `case ${one + shift}:`)
          if (clause.isDefault) heads.push('default:')
          return `${heads.join(' ')} ${this.#statement(clause.body)} break;`
        })
        this.#breakLabels.pop()
        return `${label}: switch (${selector}) {\n${clauses.join('\n')}\n}`
      }
      case 'loop':
        return this.#loop(
          () => '',
          () => this.#statement(s.body),
          () =>
            (s.continuing === undefined ? '' : this.#statement(s.continuing)) +
            (s.breakIf === undefined ? '' : ` if (${this.value(s.breakIf)}) break;`),
        )
      case 'for': {
        const initial = s.initial === undefined ? '' : this.#statement(s.initial)
        const count = this.instrumentation.observes ? this.temporary() : ''
        const counted = this.instrumentation.repetitions(s, count)
        const test = () =>
          s.condition === undefined ? '' : `if (!(${this.value(s.condition)})) { ${counted.leave}break; }\n`
        const loop = this.#loop(
          () => `${test()}${counted.repeat}`,
          () => this.#statement(s.body),
          () => (s.update === undefined ? '' : this.#statement(s.update)),
        )
        return `${initial}\n${counted.enter}${loop}`
      }
      case 'break':
        return `break ${this.#breakLabels.at(-1)};`
      case 'continue':
        return `break ${this.#continueLabels.at(-1)};`
      case 'return':
        return s.value === undefined ? 'return;' : `return ${this.value(s.value)};`
    }
  }

  #loop(test: () => string, body: () => string, after: () => string): string {
    const n = this.#nextLabel++
    const round = this.#meets ? this.temporary() : undefined
    if (round !== undefined) this.#rounds.push(`${this.#shared.positions++}, ${round}`)
    const head = round === undefined ? 'for (;;)' : `for (${round} = 0;; ${round}++)`
    const tested = test()
    this.#breakLabels.push(`l${n}`)
    this.#continueLabels.push(`b${n}`)
    const emitted = body()
    this.#continueLabels.pop()
    const rest = after()
    this.#breakLabels.pop()
    if (round !== undefined) this.#rounds.pop()
    return `l${n}: ${head} {\nif (R.rounds-- === 0) R.look();\n${tested}b${n}: ${emitted}\n${rest}\n}`
  }

  // --------------------------------------------------------------------------------------------------
  // expressions

  /** JavaScript of an expression's value; composites share no memory. */
  value(e: Evaluated): string {
    return this.instrumentation.value(e, this.#valueText(e))
  }

  #valueText(e: Evaluated): string {
    switch (e.kind) {
      case 'literal':
        return Object.is(e.value, -0) ? '-0' : String(e.value)
      case 'zero':
        return isComposite(e.type)
          ? `R.zero(${this.type(e.type)})`
          : e.type.kind === 'scalar' && e.type.scalar === 'bool'
            ? 'false'
            : '0'
      case 'splat':
        return `${this.#name(`(x) => [${new Array(e.type.size).fill('x').join(', ')}]`)}(${this.value(e.value)})`
      case 'construct':
        return this.#construct(e.args, e.type)
      case 'convert':
        return convertText(this.#name, this.#operands([e.value])[0]!, e.value.type, scalarOf(e.type))
      case 'bitcast':
        return `R.bitcast(${this.value(e.value)}, '${scalarOf(e.value.type)}', '${scalarOf(e.type)}', ${e.type.kind === 'vector' ? e.type.size : 1})`
      case 'value':
        return copyText(`v${e.value.id}`, e.type)
      case 'constant':
        return `R.clone(c${e.constant.id})`
      case 'load': {
        const place = placeText(this, e.place)
        return place.prepare === '' ? place.load : `(${comma(place.prepare)}${place.load})`
      }
      case 'address-of':
        return this.#addressOf(e.place)
      case 'member':
        return copyText(`${this.#borrow(e.base)}[${e.member.index}]`, e.type)
      case 'index':
        return copyText(
          `${mayReplaceMemory(e.index) ? this.value(e.base) : this.#borrow(e.base)}[${this.instrumentation.clamped(e, this.value(e.index), String(elementCount(e.base.type)))}]`,
          e.type,
        )
      case 'swizzle':
        return e.components.length === 1
          ? `${this.#borrow(e.base)}[${e.components[0]}]`
          : `${this.#name(`(v) => [${e.components.map((c) => `v[${c}]`).join(', ')}]`)}(${this.#borrow(e.base)})`
      case 'unary':
        return unaryText(this.#name, e.operator, this.#operands([e.value])[0]!, e.type)
      case 'binary': {
        const [leftValue, rightValue] = this.#operands([e.left, e.right]) as [string, string]
        const [leftType, rightType] = [e.left.type, e.right.type]
        return binaryText(this.#name, e.operator, leftValue, rightValue, leftType, rightType)
      }
      case 'logical':
        return `(${this.value(e.left)} ${e.operator} ${this.value(e.right)})`
      case 'call': {
        const args = e.args.map((a) => this.value(a))
        if (!this.#generators.has(e.function)) return `f${e.function.id}(${['inv', ...args].join(', ')})`
        return `(yield* f${e.function.id}(${['inv', this.#path(), ...args].join(', ')}))`
      }
      case 'builtin-call':
        return this.#builtin(e)
    }
  }

  /** Like `value`, but the result may share memory, for code that reads a part of it immediately. */
  #borrow(e: Expression): string {
    if (e.kind === 'value') return `v${e.value.id}`
    if (e.kind === 'constant') return `c${e.constant.id}`
    if (e.kind === 'load') {
      const place = placeText(this, e.place)
      return place.prepare === '' ? place.raw : `(${comma(place.prepare)}${place.raw})`
    }
    return this.value(e)
  }

  /**
   * The values of operands that form a new value together. Vectors may share memory, unless an operand may
   * change the memory that another has read.
   */
  #operands(operands: readonly Expression[]): string[] {
    const borrows = !operands.some(mayReplaceMemory)
    return operands.map((e) => (borrows && isComposite(e.type) ? this.#borrow(e) : this.value(e)))
  }

  #addressOf(place: Place): string {
    if (place.kind === 'deref') return `v${place.pointer.id}`
    const { prepare, raw, store } = placeText(this, place, 'address')
    const pointer = `{ get: () => ${raw}, set: (x) => { ${store('x')} } }`
    return prepare === '' ? pointer : `(${comma(prepare)}${pointer})`
  }

  #construct(args: readonly Expression[], type: Type): string {
    const values = type.kind === 'vector' ? this.#operands(args) : args.map((a) => this.value(a))
    if (type.kind === 'vector')
      return `[${args.map((a, i) => (isComposite(a.type) ? `...${values[i]}` : values[i])).join(', ')}]`
    if (type.kind === 'matrix' && !isComposite(args[0]!.type))
      return `R.columns([${values.join(', ')}], ${type.rows})`
    return `[${values.join(', ')}]`
  }

  #builtin(e: BuiltinCall): string {
    const { name, args } = e
    const { barrier, together, isAtomic, isMatrix } = builtinFacts[name]
    if (barrier === 'alone') return `(${this.instrumentation.called(e)}yield)`
    if (isMatrix) {
      const { prepare, waiting } = subgroupMatrixText(this, e)
      return `(${prepare}${this.instrumentation.called(e)}yield { operation: '${name}', path: ${this.#path()}, ${waiting} })`
    }
    if (together === 'subgroup') {
      const operation = `${name} ${args[0] === undefined ? 'bool' : scalarOf(args[0].type)}`
      const values = args.map((a) => this.value(a)).join(', ')
      return `(${this.instrumentation.called(e)}yield { operation: '${operation}', path: ${this.#path()}, args: [${values}] })`
    }
    if (name === 'bufferLength') return `${boundMemory(rootOf(addressed(args[0]!)))}.byteLength`
    if (name === 'arrayLength') return this.#arrayLength(args[0]!)
    if (name === 'workgroupUniformLoad') {
      const place = placeText(this, addressed(args[0]!), 'address')
      const value = this.temporary()
      const called = this.instrumentation.called(e)
      const { indices, prepare, load } = place
      const accessed = comma(prepare.slice(indices.length))
      return `(${comma(indices)}${called}yield, ${accessed}${value} = ${load}, ${called}yield, ${value})`
    }
    if (isAtomic) return this.#atomic(e)
    const kind = scalarOf(args[0]!.type)
    if (componentFunction(name, kind) !== undefined) {
      const types = args.map((a) => a.type)
      return componentText(this.#name, name, kind, this.#operands(args), types)
    }
    return `${this.#name(`R.whole['${name} ${kind}']`)}(${args.map((a) => this.value(a)).join(', ')})`
  }

  #arrayLength(pointer: Expression): string {
    const place = addressed(pointer)
    const memory = boundMemory(rootOf(place))!
    const prepare: string[] = []
    const base = byteOffset(this, place, memory, prepare)
    const length = boundLength(this, place, memory, base)
    return `(${comma(prepare.join(''))}${length})`
  }

  #atomic(e: BuiltinCall): string {
    const atomic = addressed(e.args[0]!)
    const place = placeText(this, atomic, 'address')
    const prepare = comma(place.prepare)
    if (e.name === 'atomicLoad') return `(${prepare}${place.load})`
    const value = this.temporary()
    const old = this.temporary()
    const operand = this.value(e.args[1]!)
    if (e.name === 'atomicStore') return `(${prepare}${value} = ${operand}, ${place.store(value)})`
    if (e.name === 'atomicCompareExchangeWeak') {
      const wanted = this.temporary()
      return `(${prepare}${wanted} = ${operand}, ${value} = ${this.value(e.args[2]!)}, ${old} = ${place.load}, ${old} === ${wanted} ? (${place.store(value)}, 0) : 0, [${old}, ${old} === ${wanted}])`
    }
    if (e.name === 'atomicStoreMin' || e.name === 'atomicStoreMax') {
      const number = (v: string) => `BigInt(${v}[1]) * 4294967296n + BigInt(${v}[0])`
      const changes = `${number(value)} ${e.name === 'atomicStoreMin' ? '<' : '>'} ${number(old)}`
      return `(${prepare}${value} = ${operand}, ${old} = ${place.load}, ${changes} ? ${place.store(value)} : 0)`
    }
    const operator = e.name === 'atomicSub' ? '-' : reductions[e.name.slice('atomic'.length)]?.[0]
    const next =
      operator === undefined
        ? value
        : (inlineScalar(operator, scalarOf(atomic.type), old, value) ?? `Math.${operator}(${old}, ${value})`)
    return `(${prepare}${value} = ${operand}, ${old} = ${place.load}, ${place.store(next)}, ${old})`
  }
}

/**
 * Whether evaluating the expression may change a variable or replace its JavaScript array. At a collective
 * operation, other invocations run.
 */
function mayReplaceMemory(e: Expression): boolean {
  return some(e, (x) => x.kind === 'call' || (x.kind === 'builtin-call' && isCollective(x)))
}

function comma(prepare: string): string {
  return prepare.replaceAll('; ', ', ')
}
