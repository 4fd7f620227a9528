import { type BuiltinFunction, builtinFacts, builtinFunctions } from '../builtin-functions.ts'
import { subgroupSize } from '../collectives.ts'
import type {
  AddressSpace,
  BinaryOperator,
  BuiltinValue,
  Evaluated,
  Expression,
  IrFunction,
  IrModule,
  LetValue,
  LocalVariable,
  Parameter,
  Place,
  ScalarKind,
  Statement,
  Type,
} from '../ir.ts'
import { sizeOf } from '../layout.ts'
import { findDivergentCalls } from '../validity/uniformity.ts'
import { operandsOf, type PlaceUse, rootOf, some, walk } from '../walk.ts'
import { callForms } from './random-calls.ts'
import { expressionForms } from './random-expressions.ts'
import { statementForms } from './random-kernel.ts'
import { builtinValueForms, type PointerForm, pointerForms } from './random-memory.ts'

/*
 * The forms that a kernel has, and those that random kernels together must have. A form is a phrase: a kind
 * of IR node, or a pair of kinds in a relation on which rules of the translator depend. The lists are
 * `Record`s over the unions of the IR's types, which do not compile if a member is missing.
 */

/** The kind of a statement in the source. */
const kindOf = (s: Statement) => (s.kind === 'for' ? s.keyword : s.kind)

/** Kinds of loops that the rules for loops distinguish. */
const loopForms = { for: '', while: '', loop: '' } as const satisfies Record<
  Extract<Statement['kind'], 'for' | 'loop'> | 'while',
  ''
>

const placeKinds: Readonly<Record<Place['kind'], true>> = {
  variable: true,
  deref: true,
  'member-place': true,
  'index-place': true,
  'component-place': true,
  'view-place': true,
}

const spaces: Readonly<Record<AddressSpace, readonly PlaceUse[]>> = {
  function: ['load', 'store', 'load-store', 'address'],
  private: ['load', 'store', 'load-store'],
  workgroup: ['load', 'store', 'load-store'],
  storage: ['load', 'store', 'load-store'],
  uniform: ['load'],
}

const operators: Readonly<Record<BinaryOperator, true>> = {
  '+': true,
  '-': true,
  '*': true,
  '/': true,
  '%': true,
  '&': true,
  '|': true,
  '^': true,
  '<<': true,
  '>>': true,
  '==': true,
  '!=': true,
  '<': true,
  '<=': true,
  '>': true,
  '>=': true,
}

const typeKinds: Readonly<Record<Type['kind'], true>> = {
  scalar: true,
  vector: true,
  matrix: true,
  atomic: true,
  array: true,
  struct: true,
  pointer: true,
  buffer: true,
  'subgroup-matrix': true,
}

const scalarKinds: Readonly<Record<ScalarKind, true>> = {
  bool: true,
  i32: true,
  u32: true,
  f32: true,
  f16: true,
}

/** Kinds of accesses to memory before a call that the rules for copies and zeroing distinguish. */
export const storeKinds = [
  'plain store',
  'copy',
  'compound store',
  'store of a part',
  'store through a parameter',
] as const
type StoreKind = (typeof storeKinds)[number]

const keys = <K extends string>(record: Readonly<Record<K, unknown>>) => Object.keys(record) as K[]
const isMade = (name: BuiltinFunction) => callForms[name].in !== 'elsewhere'

/** The functions whose calls depend on earlier stores: all that read or write memory, or wait. */
const ofMemory = builtinFunctions.filter((name) => /^(atomic|barrier|subgroup)$/.test(callForms[name].in))

/** Forms of pointer arguments that WGSL does not allow, or that are meaningless. */
function takes(name: BuiltinFunction, form: PointerForm): boolean {
  // The length of a whole variable, or of its last member.
  if (callForms[name].in === 'length')
    return name === 'bufferLength' ? /whole|parameter/.test(form) : /whole|member|parameter|let/.test(form)
  // The pointer is uniform in the workgroup.
  return !(name === 'workgroupUniformLoad' && form === 'element by value')
}

/** The forms that random kernels together must have. */
export function expectedForms(): string[] {
  const values = keys(builtinValueForms)
  return [
    ...keys(expressionForms).map((kind) => `expression ${kind}`),
    ...keys(statementForms).map((kind) => `statement ${kind}`),
    ...keys(placeKinds).map((kind) => `place ${kind}`),
    ...keys(spaces).flatMap((space) => spaces[space].map((use) => `${use} of ${space} memory`)),
    ...keys(operators).map((operator) => `operator ${operator}`),
    ...keys(typeKinds).map((kind) => `type ${kind}`),
    ...keys(scalarKinds).map((kind) => `scalar ${kind}`),
    ...values.map((value) => `value ${value}`),
    ...builtinFunctions.filter(isMade).map((name) => `function ${name}`),
    ...builtinFunctions
      .filter((name) => /^(atomic|length)$/.test(callForms[name].in) || name === 'workgroupUniformLoad')
      .flatMap((name) =>
        pointerForms.filter((form) => takes(name, form)).map((form) => `${name} of ${form}`),
      ),
    'workgroup memory above 48 KiB',
    'subgroup operation where the last subgroup is not whole',
    'subgroup operation where not all lanes come by',
    'store through a pointer by a call on the right of &&',
    'store through a pointer by a call on the right of ||',
    // Pairs.
    ...values.flatMap((a, i) => values.slice(i).map((b) => `index of ${a} and ${b}`)),
    ...storeKinds.flatMap((store) => ofMemory.filter(isMade).map((name) => `${name} after ${store}`)),
    ...keys(loopForms).flatMap((loop) =>
      keys(spaces).flatMap((space) =>
        spaces[space].flatMap((use) => [
          `${use} of ${space} memory inside ${loop}`,
          `${use} of ${space} memory behind ${loop}`,
        ]),
      ),
    ),
    ...keys(loopForms).flatMap((loop) =>
      builtinFunctions
        .filter((name) => callForms[name].in === 'barrier' || callForms[name].in === 'atomic')
        .flatMap((name) => [`${name} inside ${loop}`, `${name} behind ${loop}`]),
    ),
  ]
}

/** The forms of one kernel. */
export function formsOf(module: IrModule): Set<string> {
  const found = new Set<string>()
  for (const v of module.variables) addType(found, v.type)
  addWholeForms(found, module)
  for (const f of module.functions) new FormFinder(f, found).run()
  // Pointers that are lets do not appear in the IR.
  for (const [, pointer] of module.source.matchAll(/let (\w+) = &/g))
    for (const [, name] of module.source.matchAll(new RegExp(`\\b(\\w+)\\(${pointer}[,)]`, 'g')))
      found.add(`${name} of let`)
  return found
}

/** Forms that consist of several nodes. */
function addWholeForms(found: Set<string>, module: IrModule): void {
  const ofWorkgroup = module.variables.filter(({ space }) => space === 'workgroup')
  if (ofWorkgroup.reduce((bytes, { type }) => bytes + sizeOf(type), 0) > 48 * 1024)
    found.add('workgroup memory above 48 KiB')
  if (findDivergentCalls(module).size > 0) found.add('subgroup operation where not all lanes come by')
  const [x, y, z] = module.workgroupSize
  if ((x * y * z) % subgroupSize !== 0 && some(module, isSubgroupOperation))
    found.add('subgroup operation where the last subgroup is not whole')
  walk(module, {
    expression(e) {
      if (e.kind === 'logical' && some(e.right, storesThroughPointer))
        found.add(`store through a pointer by a call on the right of ${e.operator}`)
      return undefined
    },
  })
}

const isSubgroupOperation = (node: Statement | Evaluated | Place) =>
  node.kind === 'builtin-call' && builtinFacts[node.name].together === 'subgroup'

/** Functions of random kernels store through every pointer parameter. */
const storesThroughPointer = (node: Statement | Evaluated | Place) =>
  node.kind === 'call' && node.args.some(({ kind }) => kind === 'address-of')

function addType(found: Set<string>, type: Type | undefined): void {
  if (type === undefined) return
  found.add(`type ${type.kind}`)
  if ('scalar' in type) found.add(`scalar ${type.scalar}`)
  if (type.kind === 'array') addType(found, type.element)
  if (type.kind === 'struct') for (const m of type.members) addType(found, m.type)
}

class FormFinder {
  readonly #function: IrFunction
  readonly #found: Set<string>
  /** The built-in values on which lets depend. */
  readonly #values = new Map<LetValue | Parameter, ReadonlySet<BuiltinValue>>()
  readonly #counters = new Set<LocalVariable>()
  /** Loops around and before the visited node. */
  readonly #inside: string[] = []
  readonly #behind = new Set<string>()
  #stored: StoreKind | undefined

  constructor(fn: IrFunction, found: Set<string>) {
    this.#function = fn
    this.#found = found
    for (const p of fn.parameters) if (p.builtin !== undefined) this.#values.set(p, new Set([p.builtin]))
  }

  run(): void {
    for (const p of this.#function.parameters) {
      addType(this.#found, p.type)
      if (p.builtin !== undefined) this.#found.add(`value ${p.builtin}`)
    }
    walk(this.#function, {
      statement: (s) => this.#statement(s),
      expression: (e) => this.#expression(e),
      place: (place, use) => this.#place(place, use),
      leave: (node) => this.#leave(node),
    })
  }

  #statement(s: Statement): undefined {
    const kind = kindOf(s)
    this.#found.add(`statement ${kind}`)
    if (s.kind === 'compound-assign') this.#found.add(`operator ${s.operator}`)
    if (kind === 'for' || kind === 'while' || kind === 'loop') {
      this.#inside.push(kind)
      if (s.kind === 'for' && s.initial?.kind === 'var') this.#counters.add(s.initial.variable)
      // For other loops, the variable that the condition or a jump out of the loop compares.
      walk(s, {
        place: (place, use) => {
          if (use !== 'load-store' || place.kind !== 'variable' || place.variable.kind !== 'local-variable')
            return undefined
          if (/^[kw]\d+$/.test(place.variable.name)) this.#counters.add(place.variable)
          return undefined
        },
      })
    }
    return undefined
  }

  #leave(node: Statement | Evaluated): void {
    switch (node.kind) {
      case 'for':
      case 'loop':
        this.#behind.add(this.#inside.pop()!)
        return
      case 'let':
        this.#values.set(node.variable, this.#valuesIn(node.value))
        return
      case 'assign':
      case 'compound-assign': {
        const { target } = node
        const root = rootOf(target)
        const isWorkgroup =
          root.kind === 'variable' && 'space' in root.variable && root.variable.space === 'workgroup'
        if (!isWorkgroup) return
        if (node.kind === 'compound-assign') this.#stored = 'compound store'
        else if (root.parameter !== undefined) this.#stored = 'store through a parameter'
        else if (target.kind !== 'index-place' && target.kind !== 'variable') this.#stored = 'store of a part'
        else this.#stored = node.value.kind === 'load' && isStorage(node.value.place) ? 'copy' : 'plain store'
        return
      }
      case 'call': {
        // The last store of the function.
        walk(node.function, {
          place: (place, use) => {
            const root = rootOf(place)
            const isStore = use === 'store' && root.kind === 'variable' && root.parameter !== undefined
            if (isStore && 'space' in root.variable && root.variable.space === 'workgroup')
              this.#stored = 'store through a parameter'
            return undefined
          },
        })
        return
      }
    }
  }

  #expression(e: Evaluated): undefined {
    this.#found.add(`expression ${e.kind}`)
    addType(this.#found, e.type)
    if (e.kind === 'binary') this.#found.add(`operator ${e.operator}`)
    if (e.kind !== 'builtin-call') return undefined
    this.#found.add(`function ${e.name}`)
    if (this.#stored !== undefined) this.#found.add(`${e.name} after ${this.#stored}`)
    this.#loops(e.name)
    const [pointer] = e.args
    if (pointer?.kind === 'address-of')
      for (const form of this.#pointerForms(pointer.place)) this.#found.add(`${e.name} of ${form}`)
    return undefined
  }

  #loops(what: string): void {
    for (const loop of this.#inside) this.#found.add(`${what} inside ${loop}`)
    for (const loop of this.#behind) this.#found.add(`${what} behind ${loop}`)
  }

  #pointerForms(place: Place): PointerForm[] {
    const forms: PointerForm[] = []
    const root = rootOf(place)
    if (root.kind === 'deref' || root.parameter !== undefined) forms.push('parameter')
    if (place.kind === 'variable') forms.push('whole')
    if (place.kind === 'member-place') forms.push('member')
    for (const index of operandsOf(place)) {
      let isCounter = false
      walk(index, {
        place: (p) => {
          const { variable } = p.kind === 'variable' ? p : { variable: undefined }
          isCounter ||= variable?.kind === 'local-variable' && this.#counters.has(variable)
          return undefined
        },
      })
      if (isCounter) forms.push('element by counter')
      if (this.#valuesIn(index).size > 0) forms.push('element by position')
      if (index.kind === 'literal') forms.push('constant element')
      else if (!isCounter && this.#valuesIn(index).size === 0) forms.push('element by value')
    }
    return forms
  }

  #place(place: Place, use: PlaceUse): undefined {
    this.#found.add(`place ${place.kind}`)
    addType(this.#found, place.type)
    const root = rootOf(place)
    const space =
      root.kind === 'deref' || root.variable.kind === 'local-variable' ? 'function' : root.variable.space
    this.#found.add(`${use} of ${space} memory`)
    this.#loops(`${use} of ${space} memory`)
    const values = [...new Set(operandsOf(place).flatMap((e) => [...this.#valuesIn(e)]))]
    for (const a of values) for (const b of values) this.#found.add(`index of ${a} and ${b}`)
    for (const [value, count] of this.#occurrences(place))
      if (count > 1) this.#found.add(`index of ${value} and ${value}`)
    return undefined
  }

  /** How often each built-in value occurs in the indices of a place. */
  #occurrences(place: Place): Map<BuiltinValue, number> {
    const counts = new Map<BuiltinValue, number>()
    for (const index of operandsOf(place))
      for (const v of this.#valuesIn(index)) counts.set(v, (counts.get(v) ?? 0) + 1)
    return counts
  }

  #valuesIn(e: Expression): ReadonlySet<BuiltinValue> {
    const values = new Set<BuiltinValue>()
    walk(e, {
      expression: (x) => {
        if (x.kind === 'value') for (const v of this.#values.get(x.value) ?? []) values.add(v)
        return undefined
      },
    })
    return values
  }
}

function isStorage(place: Place): boolean {
  const root = rootOf(place)
  return (
    root.kind === 'variable' && root.variable.kind === 'module-variable' && root.variable.space === 'storage'
  )
}

/**
 * Seeds of random kernels that together have every form and every pair of forms. They were chosen one by one;
 * each added the most new ones.
 */
export const seedsOfAllForms: readonly number[] = [
  ...[85, 539, 2169, 174, 56, 1817, 256, 109, 2857, 226, 113, 249, 355, 449, 343, 189, 166],
  ...[326, 31, 97, 59, 321, 165, 420, 201, 1385, 209, 320, 332, 371, 394, 317, 163, 1325],
  ...[1957, 24, 137, 801, 1941, 5, 89, 341, 45, 93, 103],
]
