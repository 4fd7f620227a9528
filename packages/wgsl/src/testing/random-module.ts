import { Random } from './random.ts'
import {
  literal,
  type Name,
  randomType,
  type Scalar,
  type Shape,
  type Stage,
  scalar,
  sizes,
  stages,
  typeText,
} from './random-module-types.ts'

/**
 * A random module with an entry point `main`, drawn from the grammar with regard to types: about half of the
 * modules are valid. The others have a value of a wrong type, an unknown name, or a constant that overflows.
 * The same seed produces the same module. No function calls a collective operation, so uniformity does not
 * matter.
 */
export function randomModule(seed: number): string {
  return new ModuleWriter(new Random(seed)).module()
}

class ModuleWriter {
  readonly #random: Random
  #scopes: Name[][] = [[]]
  #structs: Extract<Shape, { kind: 'struct' }>[] = []
  #functions: { name: string; parameters: Shape[]; result: Shape }[] = []
  #names = 0
  #loops = 0
  #budget = 40
  /** The number of expressions before a wrong one. */
  #mistake: number
  #result: Shape | undefined

  constructor(random: Random) {
    this.#random = random
    this.#mistake = random.oneIn(3) ? random.below(200) : -1
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`
  }

  #declare(name: string, type: Shape, stage: Stage, mutable: boolean): void {
    this.#scopes.at(-1)!.push({ name, type, stage, mutable })
  }

  module(): string {
    const r = this.#random
    const declarations: string[] = []
    const count = 3 + r.below(8)
    for (let i = 0; i < count; i++) declarations.push(this.#declaration())
    this.#budget = 30
    const attributes = `@compute @workgroup_size(${r.pick(['1', '4', '8, 8', '64', '2u, 3'])})`
    const body = this.#scoped(() => {
      this.#declare('id', { kind: 'vector', scalar: 'u32', size: 3 }, 'runtime', false)
      this.#declare('lane', scalar('u32'), 'runtime', false)
      return this.#statements(4 + r.below(8))
    })
    return `enable f16;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> input: array<vec4<f32>, 16>;
${declarations.join('\n')}
${attributes} fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
${body}}
`
  }

  // ----------------------------------------------------------------------------------------------
  // declarations

  #declaration(): string {
    const r = this.#random
    switch (r.below(9)) {
      case 0: {
        const name = this.#name('S')
        const members = Array.from({ length: 1 + r.below(4) }, (_, i) => ({
          name: `m${i}`,
          type: randomType(this.#random, 1, this.#structs),
        }))
        this.#structs.push({ kind: 'struct', name, members })
        return `struct ${name} { ${members.map((m) => `${m.name}: ${typeText(m.type)}`).join(', ')} }`
      }
      case 1:
      case 2:
        return this.#constant()
      case 3: {
        const type = scalar(r.pick(['i32', 'u32', 'f32', 'bool']))
        const name = this.#name('o')
        const id = r.oneIn(4) ? `@id(${this.#names}) ` : ''
        const text = `${id}override ${name}${r.oneIn(2) ? `: ${typeText(type)}` : ''} = ${this.#expression(type, 'override', 2)};`
        this.#declare(name, type, 'override', false)
        return text
      }
      case 4: {
        const type = randomType(this.#random, 2, this.#structs)
        const name = this.#name('p')
        const initial = r.oneIn(2) ? ` = ${this.#expression(type, 'override', 2)}` : ''
        this.#declare(name, type, 'runtime', true)
        return `var<private> ${name}: ${typeText(type)}${initial};`
      }
      case 5: {
        const type = randomType(this.#random, 2, this.#structs)
        const name = this.#name('w')
        this.#declare(name, type, 'runtime', true)
        return `var<workgroup> ${name}: ${typeText(type)};`
      }
      case 6:
        return `const_assert ${this.#expression(scalar('bool'), 'const', 2)} || true;`
      default:
        return this.#function()
    }
  }

  #constant(): string {
    const r = this.#random
    const type = randomType(this.#random, 2, this.#structs)
    const name = this.#name('c')
    const written = r.oneIn(2) ? `: ${typeText(type)}` : ''
    const text = `const ${name}${written} = ${this.#expression(type, 'const', r.below(3))};`
    this.#declare(name, type, 'const', false)
    return text
  }

  #function(): string {
    const r = this.#random
    const name = this.#name('f')
    const parameters = Array.from({ length: r.below(4) }, () => randomType(this.#random, 1, this.#structs))
    const result = randomType(this.#random, 1, this.#structs)
    this.#budget = 12
    this.#result = result
    const text = this.#scoped(() => {
      const list = parameters.map((type) => {
        const parameter = this.#name('a')
        this.#declare(parameter, type, 'runtime', false)
        return `${parameter}: ${typeText(type)}`
      })
      const body = this.#statements(1 + r.below(5))
      return `fn ${name}(${list.join(', ')}) -> ${typeText(result)} {\n${body}  return ${this.#expression(result, 'runtime', 3)};\n}`
    })
    this.#result = undefined
    this.#functions.push({ name, parameters, result })
    return text
  }

  // ------------------------------------------------------------------------------------------------
  // statements

  #scoped<T>(run: () => T): T {
    this.#scopes.push([])
    const result = run()
    this.#scopes.pop()
    return result
  }

  #statements(count: number): string {
    let text = ''
    for (let i = 0; i < count; i++) text += `  ${this.#statement()}\n`
    return text
  }

  #block(): string {
    return `{\n${this.#scoped(() => this.#statements(1 + this.#random.below(3)))}  }`
  }

  #loopBlock(): string {
    this.#loops++
    const block = this.#block()
    this.#loops--
    return block
  }

  #statement(): string {
    const r = this.#random
    const leaf = this.#budget-- <= 0
    const condition = () => this.#expression(scalar('bool'), 'runtime', 2)
    switch (r.below(leaf ? 9 : 17)) {
      case 0:
      case 1: {
        const type = randomType(this.#random, 2, this.#structs)
        const name = this.#name('v')
        const written = r.oneIn(2) ? `: ${typeText(type)}` : ''
        const initial = written !== '' && r.oneIn(4) ? '' : ` = ${this.#expression(type, 'runtime', 3)}`
        this.#declare(name, type, 'runtime', true)
        return `var ${name}${written}${initial};`
      }
      case 2: {
        const type = randomType(this.#random, 2, this.#structs)
        const name = this.#name('l')
        const text = `let ${name}${r.oneIn(2) ? `: ${typeText(type)}` : ''} = ${this.#expression(type, 'runtime', 3)};`
        this.#declare(name, type, 'runtime', false)
        return text
      }
      case 3:
        return this.#constant()
      case 4:
      case 5:
        return this.#assignment()
      case 6:
        return `out[${this.#expression(scalar('u32'), 'runtime', 2)}] = ${this.#expression(scalar('u32'), 'runtime', 3)};`
      case 7:
        return `_ = ${this.#expression(randomType(this.#random, 2, this.#structs), 'runtime', 3)};`
      case 8:
        if (this.#loops > 0)
          return r.oneIn(2) ? `if ${condition()} { break; }` : `if ${condition()} { continue; }`
        return r.oneIn(100) ? r.pick(['break;', 'continue;', 'discard;']) : ';'
      case 9:
      case 10:
        return `if ${condition()} ${this.#block()}${r.oneIn(2) ? ` else ${r.oneIn(3) ? `if ${condition()} ` : ''}${this.#block()}` : ''}`
      case 11: {
        const kind = r.pick<Scalar>(['i32', 'u32'])
        const values = [0, 1, 2, 3].filter(() => r.oneIn(2))
        const clauses = values.map((v) => `case ${v}${r.oneIn(3) ? kind[0] : ''} ${this.#block()}`)
        const otherwise = r.oneIn(60) ? '' : `default ${this.#block()}`
        return `switch ${this.#expression(scalar(kind), 'runtime', 2)} { ${clauses.join(' ')} ${otherwise} }`
      }
      case 12: {
        const name = this.#name('k')
        return this.#scoped(() => {
          this.#declare(name, scalar('u32'), 'runtime', true)
          return `for (var ${name} = 0u; ${name} < ${1 + r.below(4)}u; ${name}++) ${this.#loopBlock()}`
        })
      }
      case 13:
        return `while ${condition()} ${this.#loopBlock()}`
      case 14: {
        const body = this.#loopBlock().slice(0, -1)
        return `loop ${body} continuing { ${r.oneIn(2) ? this.#assignment() : ''} break if ${condition()}; } }`
      }
      case 15:
        return this.#block()
      default:
        if (this.#result === undefined) return `if ${condition()} { return; }`
        return `if ${condition()} { return ${this.#expression(this.#result, 'runtime', 2)}; }`
    }
  }

  #assignment(): string {
    const r = this.#random
    const variables = this.#scopes.flat().filter((n) => n.mutable || r.oneIn(1000))
    if (variables.length === 0) return ';'
    const variable = r.pick(variables)
    let { type } = variable
    let target = variable.name
    for (let depth = 0; depth < 2 && r.oneIn(2); depth++) {
      if (type.kind === 'struct') {
        const member = r.pick(type.members)
        target += `.${member.name}`
        type = member.type
      } else if (type.kind === 'array') {
        target += `[${this.#index(type.length, 'runtime')}]`
        type = type.element
      } else if (type.kind === 'matrix') {
        target += `[${this.#index(type.columns, 'runtime')}]`
        type = { kind: 'vector', scalar: type.scalar, size: type.rows }
      } else if (type.kind === 'vector') {
        const element = scalar(type.scalar)
        if (r.oneIn(2)) target += `[${this.#index(type.size, 'runtime')}]`
        else target += `.${'xyzw'[r.below(type.size)]}`
        type = element
      }
    }
    if (type.kind === 'vector' && r.oneIn(3)) {
      const size = r.pick(sizes)
      const components = Array.from(
        { length: size },
        () => 'xyzw'[r.below((type as { size: number }).size)],
      ).join('')
      if (new Set(components).size === size || r.oneIn(30)) {
        target += `.${components}`
        type = { kind: 'vector', scalar: type.scalar, size }
      }
    }
    const arithmetic = (type.kind === 'scalar' || type.kind === 'vector') && type.scalar !== 'bool'
    if (type.kind === 'scalar' && (type.scalar === 'i32' || type.scalar === 'u32') && r.oneIn(6))
      return `${target}${r.pick(['++', '--'])};`
    const operator = arithmetic && r.oneIn(3) ? r.pick(['+', '-', '*']) : ''
    return `${target} ${operator}= ${this.#expression(type, 'runtime', 3)};`
  }

  // -----------------------------------------------------------------------------------------------
  // expressions

  #index(length: number, stage: Stage): string {
    const r = this.#random
    if (r.oneIn(400)) return r.pick(['-1', `${length}`, `${length}u`, '1.0'])
    if (stage === 'runtime' && r.oneIn(3)) return this.#expression(scalar(r.pick(['i32', 'u32'])), stage, 0)
    return `${r.below(length)}${r.pick(['', 'u', 'i'])}`
  }

  /** An expression of a type that may be evaluated at a stage. */
  #expression(wanted: Shape, stage: Stage, depth: number): string {
    const r = this.#random
    let type = wanted
    if (this.#mistake-- === 0) {
      const choice = r.below(3)
      if (choice === 0)
        return r.pick(['undeclared', 'out', 'main', 'f32', '""', '(1', 'vec3', '1.5h', '1e999', 'id.w'])
      if (choice === 1) type = randomType(this.#random, 2, this.#structs)
      else return this.#expression(wanted, 'runtime', depth)
    }
    const known = this.#scopes
      .flat()
      .filter((n) => stages.indexOf(n.stage) <= stages.indexOf(stage) && typeText(n.type) === typeText(type))
    if (known.length > 0 && r.oneIn(3)) return r.pick(known).name
    // A loaded value prevents constant folding of the surrounding expression, so that fewer expressions
    // overflow.
    if (stage === 'runtime' && type.kind === 'scalar' && (depth <= 0 || r.oneIn(3)))
      return this.#loaded(type.scalar)
    if (depth > 0 && stage === 'runtime' && r.oneIn(8)) {
      const callable = this.#functions.filter((f) => typeText(f.result) === typeText(type))
      if (callable.length > 0) {
        const { name, parameters } = r.pick(callable)
        return `${name}(${parameters.map((p) => this.#expression(p, stage, depth - 1)).join(', ')})`
      }
    }
    if (depth > 0 && r.oneIn(6)) return this.#part(type, stage, depth)
    switch (type.kind) {
      case 'scalar':
        return type.scalar === 'bool'
          ? this.#truth(stage, depth)
          : this.#number(type, type.scalar, stage, depth)
      case 'vector':
        if (depth > 0 && type.scalar !== 'bool' && r.oneIn(2))
          return this.#number(type, type.scalar, stage, depth)
        return this.#vector(type, stage, depth)
      case 'matrix':
        return this.#matrix(type, stage, depth)
      case 'array': {
        const { element, length } = type
        if (r.oneIn(4)) return `${typeText(type)}()`
        const parts = Array.from({ length }, () => this.#expression(element, stage, depth - 1)).join(', ')
        return r.oneIn(2) ? `array(${parts})` : `${typeText(type)}(${parts})`
      }
      case 'struct':
        if (r.oneIn(4)) return `${type.name}()`
        return `${type.name}(${type.members.map((m) => this.#expression(m.type, stage, depth - 1)).join(', ')})`
    }
  }

  /** A value that is known only when the shader runs. */
  #loaded(s: Scalar): string {
    const word = `out[${this.#random.below(9)}]`
    if (s === 'u32') return word
    return s === 'f32'
      ? `input[${this.#random.below(16)}].${this.#random.pick([...'xyzw'])}`
      : `${s}(${word})`
  }

  /** A part of a larger value. */
  #part(type: Shape, stage: Stage, depth: number): string {
    const r = this.#random
    if (type.kind === 'scalar') {
      const size = r.pick(sizes)
      const vector = this.#expression({ kind: 'vector', scalar: type.scalar, size }, stage, depth - 1)
      return r.oneIn(2) ? `${vector}.${'xyzw'[r.below(size)]}` : `${vector}[${this.#index(size, stage)}]`
    }
    if (type.kind === 'vector' && r.oneIn(2)) {
      const size = r.pick(sizes)
      const components = Array.from({ length: type.size }, () => r.pick([...'xyzw'].slice(0, size))).join('')
      return `${this.#expression({ kind: 'vector', scalar: type.scalar, size }, stage, depth - 1)}.${components}`
    }
    const struct = this.#structs.find((s) => s.members.some((m) => typeText(m.type) === typeText(type)))
    if (struct !== undefined && r.oneIn(2)) {
      const member = struct.members.find((m) => typeText(m.type) === typeText(type))!
      return `${this.#expression(struct, stage, depth - 1)}.${member.name}`
    }
    const length = 1 + r.below(3)
    return `${this.#expression({ kind: 'array', element: type, length }, stage, depth - 1)}[${this.#index(length, stage)}]`
  }

  #truth(stage: Stage, depth: number): string {
    const r = this.#random
    if (depth <= 0) return literal(this.#random, 'bool')
    const again = (s: Scalar) => this.#expression(scalar(s), stage, depth - 1)
    switch (r.below(7)) {
      case 0:
        return `!${again('bool')}`
      case 1:
        return `(${again('bool')} ${r.pick(['&&', '||', '&', '|', '==', '!='])} ${again('bool')})`
      case 2:
        return `${r.pick(['all', 'any'])}(${this.#expression({ kind: 'vector', scalar: 'bool', size: r.pick(sizes) }, stage, depth - 1)})`
      case 3:
        return `bool(${again(r.pick(['i32', 'u32', 'f32']))})`
      default: {
        const s = r.pick<Scalar>(['i32', 'u32', 'f32', 'f16'])
        return `(${again(s)} ${r.pick(['==', '!=', '<', '<=', '>', '>='])} ${again(s)})`
      }
    }
  }

  /** A number, or a vector of numbers made by component. */
  #number(type: Shape, s: Scalar, stage: Stage, depth: number): string {
    const r = this.#random
    if (depth <= 0)
      return type.kind === 'scalar'
        ? literal(this.#random, s)
        : `${typeText(type)}(${literal(this.#random, s)})`
    const again = () => this.#expression(type, stage, depth - 1)
    const float = s === 'f32' || s === 'f16'
    switch (r.below(9)) {
      case 0:
        return type.kind === 'scalar' ? literal(this.#random, s) : `${typeText(type)}(${again()})`
      case 1:
      case 2:
        return `(${again()} ${r.pick(['+', '-', '*', '+', '*', r.oneIn(3) ? '/' : '-', r.oneIn(3) ? '%' : '+'])} ${again()})`
      case 3:
        if (float) return `(-${again()})`
        if (r.oneIn(2)) return `(${again()} ${r.pick(['&', '|', '^'])} ${again()})`
        return type.kind === 'scalar'
          ? `(${again()} ${r.pick(['<<', '>>'])} ${r.below(r.oneIn(20) ? 40 : 8)}u)`
          : `~${again()}`
      case 4: {
        if (type.kind !== 'scalar') return again()
        return `${s}(${this.#expression(scalar(r.pick(['i32', 'u32', 'f32', 'bool', 'f16'])), stage, depth - 1)})`
      }
      case 5:
        return `${r.pick(['min', 'max'])}(${again()}, ${again()})`
      case 6:
        return `select(${again()}, ${again()}, ${this.#expression(scalar('bool'), stage, depth - 1)})`
      case 7:
        if (r.oneIn(stage === 'runtime' ? 3 : 20)) return `clamp(${again()}, ${again()}, ${again()})`
        if (float)
          return `${r.pick(['floor', 'ceil', 'trunc', 'round', 'sin', 'cos', 'exp', 'sqrt', 'fract', 'saturate', 'sign', 'abs', 'log', 'acos', 'inverseSqrt', 'degrees', 'radians', 'tanh'])}(${again()})`
        return `${r.pick(['abs', 'countOneBits', 'reverseBits', 'firstLeadingBit', 'firstTrailingBit', 'countLeadingZeros', 'countTrailingZeros'])}(${again()})`
      default: {
        if (type.kind === 'scalar' && r.oneIn(2)) {
          const vector = { kind: 'vector', scalar: s, size: r.pick(sizes) } as const
          if (float && r.oneIn(2)) return `length(${this.#expression(vector, stage, depth - 1)})`
          return `dot(${this.#expression(vector, stage, depth - 1)}, ${this.#expression(vector, stage, depth - 1)})`
        }
        if (float)
          return r.oneIn(2)
            ? `${r.pick(['mix', 'fma', 'smoothstep'])}(${again()}, ${again()}, ${again()})`
            : `${r.pick(type.kind === 'scalar' || r.oneIn(2) ? ['pow', 'step', 'atan2'] : ['reflect'])}(${again()}, ${again()})`
        const bits = this.#expression(scalar('u32'), stage, 1)
        return r.oneIn(2)
          ? `extractBits(${again()}, ${r.below(20)}u, ${bits})`
          : `insertBits(${again()}, ${again()}, ${bits}, ${r.below(20)}u)`
      }
    }
  }

  #vector(type: Extract<Shape, { kind: 'vector' }>, stage: Stage, depth: number): string {
    const r = this.#random
    const { size } = type
    const element = scalar(type.scalar)
    const name = r.oneIn(3) ? `vec${size}` : typeText(type)
    switch (r.below(4)) {
      case 0:
        return `${name}(${this.#expression(element, stage, depth - 1)})`
      case 1:
        if (size > 2) {
          const first = this.#expression({ kind: 'vector', scalar: type.scalar, size: 2 }, stage, depth - 1)
          const rest = Array.from({ length: size - 2 }, () => this.#expression(element, stage, depth - 1))
          return `${name}(${[first, ...rest].join(', ')})`
        }
        return `${typeText(type)}()`
      default:
        return `${name}(${Array.from({ length: size }, () => this.#expression(element, stage, depth - 1)).join(', ')})`
    }
  }

  #matrix(type: Extract<Shape, { kind: 'matrix' }>, stage: Stage, depth: number): string {
    const r = this.#random
    const { columns, rows } = type
    const again = (t: Shape) => this.#expression(t, stage, depth - 1)
    if (depth <= 0) return `${typeText(type)}()`
    switch (r.below(6)) {
      case 0:
        return `${typeText(type)}()`
      case 1:
        return `(${again(type)} ${r.pick(['+', '-'])} ${again(type)})`
      case 2:
        return `(${again(scalar(type.scalar))} * ${again(type)})`
      case 3: {
        const inner = r.pick(sizes)
        return `(${again({ ...type, columns: inner })} * ${again({ ...type, rows: inner })})`
      }
      case 4:
        return `transpose(${again({ ...type, columns: rows, rows: columns })})`
      default: {
        const column = { kind: 'vector', scalar: type.scalar, size: rows } as const
        return `${typeText(type)}(${Array.from({ length: columns }, () => again(column)).join(', ')})`
      }
    }
  }
}
