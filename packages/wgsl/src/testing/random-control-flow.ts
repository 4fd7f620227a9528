import { Random } from './random.ts'
import { type FunctionShape, parameterTypes, type Variable } from './random-control-flow-names.ts'

/**
 * A random module of control flow, memory and functions with collective operations. It is valid except for
 * the rules of uniformity and of aliases, on which two compilers are compared. The same seed produces the
 * same module.
 */
export function randomControlFlow(seed: number): string {
  return new ControlFlowWriter(seed).module()
}

class ControlFlowWriter {
  readonly #random: Random
  readonly #functions: FunctionShape[] = []
  #scopes: Variable[][] = []
  #names = 0
  #budget = 0
  #depth = 0
  /** How often something varies, in percent. */
  #variety = 3
  #returns = false
  #isEntry = false

  constructor(seed: number) {
    this.#random = new Random(seed)
  }

  #below(n: number): number {
    return this.#random.below(n)
  }

  #chance(percent: number): boolean {
    return this.#below(100) < percent
  }

  #pick<T>(choices: readonly T[]): T {
    return this.#random.pick(choices)
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`
  }

  /** The text of the whole module. */
  module(): string {
    this.#variety = this.#pick([0, 1, 3, 8])
    const directive = this.#chance(10) ? `diagnostic(${this.#severity()}, subgroup_uniformity);\n` : ''
    const functions = Array.from({ length: this.#below(4) }, () => this.#function())
    this.#isEntry = true
    this.#returns = false
    this.#budget = 30
    const asStruct = this.#chance(20)
    const values = [
      ...['@builtin(workgroup_id) wid: vec3u', '@builtin(num_workgroups) count: vec3u'],
      ...['@builtin(subgroup_size) size: u32', '@builtin(num_subgroups) groups: u32'],
    ]
    const inputs = asStruct ? 'inputs: Inputs' : values.join(', ')
    const aliases = asStruct
      ? '  let wid = inputs.wid; let count = inputs.count; let size = inputs.size; let groups = inputs.groups;\n'
      : ''
    const fields = this.#chance(50) ? values : [...values, '@builtin(subgroup_id) inner: u32']
    const body = this.#body()
    return `enable subgroups;
diagnostic(off, chromium.unreachable_code);
${directive}struct Pair { a: u32, b: vec3u }
struct Inputs { ${fields.join(', ')} }
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@group(0) @binding(1) var<storage, read> r: array<u32>;
@group(0) @binding(2) var<uniform> un: array<vec4u, 4>;
var<workgroup> w: array<u32, 64>;
var<workgroup> wa: atomic<u32>;
var<private> pv: u32;
override ov: u32 = 3;
const table = array(1u, 2u, 3u, 4u);
${functions.join('\n')}
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) li: u32, @builtin(subgroup_invocation_id) lane: u32,
    ${asStruct ? '' : '@builtin(subgroup_id) sid: u32, '}${inputs}) {
${asStruct ? '  let sid = 0u;\n' : ''}${aliases}${body}}
`
  }

  #severity(): string {
    return this.#pick(['off', 'error'])
  }

  #attribute(percent = 4): string {
    return this.#chance(percent) ? `@diagnostic(${this.#severity()}, subgroup_uniformity) ` : ''
  }

  #function(): string {
    const name = this.#name('f')
    const types = Array.from({ length: this.#below(4) }, () => this.#pick(parameterTypes))
    const names = types.map((_, i) => `p${i}`)
    this.#returns = this.#chance(60)
    this.#budget = 8
    this.#isEntry = false
    this.#scopes = [
      types.map((type, i): Variable => {
        if (type === 'u32') return { name: names[i]!, type: 'u32', kind: 'let' }
        if (
          type === 'ptr<function, u32>' ||
          type === 'ptr<storage, u32, read_write>' ||
          type === 'ptr<private, u32>' ||
          type === 'ptr<workgroup, u32>'
        )
          return { name: names[i]!, type: 'u32', kind: 'pointer' }
        if (type === 'ptr<storage, u32, read>')
          return { name: names[i]!, type: 'u32', kind: 'constant-pointer' }
        if (type === 'ptr<uniform, vec4u>') return { name: `${names[i]!}[1]`, type: 'u32', kind: 'let' }
        if (type === 'ptr<function, Pair>') return { name: `(*${names[i]!})`, type: 'Pair', kind: 'var' }
        const array: Variable = { name: `(*${names[i]!})`, type: 'array<u32, 4>', kind: 'var' }
        return type === 'ptr<function, array<u32, 4>>' ? array : { ...array, isStorage: true }
      }),
    ]
    const parameters = types.map((type, i) => `${names[i]}: ${type}`).join(', ')
    const head = `${this.#attribute()}fn ${name}(${parameters})${this.#returns ? ' -> u32' : ''}`
    const text = `${head} ${this.#attribute()}{\n${this.#body()}${this.#returns ? `  return ${this.#value()};\n` : ''}}`
    this.#functions.push({ name, parameters: types, returns: this.#returns })
    return text
  }

  #body(): string {
    if (this.#isEntry) this.#scopes = [[]]
    this.#depth = 0
    const start = ['u32', 'vec3u', 'array<u32, 4>', 'Pair'] as const
    const declared = start
      .filter(() => this.#chance(60))
      .map((type) => this.#declare(type))
      .join('')
    const spare = '  var spare_u32: u32; var spare_array: array<u32, 4>; var spare_pair: Pair;\n'
    return (
      spare +
      declared +
      this.#statements(3 + this.#below(5), { loop: false, breakable: false, continuing: false })
    )
  }

  #declare(type: Variable['type']): string {
    const name = this.#name('v')
    const initial = this.#chance(70) ? ` = ${this.#valueOf(type)}` : ''
    this.#scopes.at(-1)!.push({ name, type, kind: 'var' })
    return `  var ${name}: ${type}${initial};\n`
  }

  // --------------------------------------------------------------------------------------------------
  // expressions

  #valueOf(type: Variable['type']): string {
    if (type === 'u32') return this.#value()
    if (type === 'vec3u')
      return this.#chance(50) ? `vec3u(${this.#value()})` : `vec3u(${this.#value()}, 1, ${this.#value()})`
    if (type === 'Pair') return `Pair(${this.#value()}, ${this.#valueOf('vec3u')})`
    return this.#chance(30) ? 'array<u32, 4>()' : `array(${this.#value()}, 2u, ${this.#value()}, 0u)`
  }

  #variables(): Variable[] {
    return this.#scopes.flat()
  }

  /** A part of a variable, of type u32: `v`, `v.x`, `a[i]`. */
  #part({ name, type, kind }: Variable): string {
    if (kind === 'pointer' || kind === 'constant-pointer') return `*${name}`
    if (type === 'u32') return name
    if (type === 'vec3u') return `${name}.${this.#pick(['x', 'y', 'z'])}`
    if (type === 'Pair') return this.#chance(50) ? `${name}.a` : `${name}.b.y`
    return `${name}[${this.#index()}]`
  }

  #index(): string {
    return this.#chance(60) ? `${this.#below(4)}` : `(${this.#value()} & 3u)`
  }

  #varying(): string {
    const shared = ['o[0]', 'w[1]', 'pv', 'atomicLoad(&wa)', 'atomicAdd(&wa, 1u)', 'subgroupInclusiveAdd(1u)']
    const own = this.#isEntry ? ['id.x', 'li', 'lane', 'sid', 'sid'] : []
    const group = ['subgroupAdd(1u)', 'subgroupBroadcastFirst(2u)', 'u32(subgroupElect())', 'quadSwapX(1u)']
    return this.#pick([...own, ...own, ...shared, ...group])
  }

  #value(): string {
    if (this.#depth > 4) return '1u'
    this.#depth++
    const text = this.#deepValue()
    this.#depth--
    return text
  }

  #deepValue(): string {
    if (this.#chance(this.#variety)) return this.#varying()
    switch (this.#below(16)) {
      case 0:
        return `r[${this.#value()}]`
      case 1:
        return `un[${this.#index()}].${this.#pick(['x', 'w'])}`
      case 2:
        return this.#isEntry ? this.#pick(['wid.x', 'count.y', 'size', 'groups']) : 'ov'
      case 3:
        return this.#pick(['ov', 'table[2]', 'arrayLength(&o)', '7u'])
      case 4:
        return `(${this.#value()} ${this.#pick(['+', '*', '^'])} ${this.#value()})`
      case 5:
        return `select(${this.#value()}, 3u, ${this.#condition()})`
      case 6:
        return `u32(${this.#condition()})`
      case 7:
        return this.#chance(20) ? `workgroupUniformLoad(&w[${this.#index()}])` : '5u'
      case 8: {
        const callable = this.#functions.filter((f) => f.returns)
        return callable.length === 0 ? '4u' : this.#call(this.#pick(callable))
      }
      case 9:
        return this.#chance(30) ? this.#subgroup() : `${this.#below(9)}u`
      default: {
        const variables = this.#variables()
        return variables.length === 0 ? '6u' : this.#part(this.#pick(variables))
      }
    }
  }

  #subgroup(): string {
    return this.#pick([
      `subgroupAdd(${this.#value()})`,
      `subgroupShuffle(${this.#value()}, ${this.#value()})`,
      `subgroupShuffleUp(${this.#value()}, ${this.#value()})`,
      `quadBroadcast(${this.#value()}, 1)`,
      `subgroupMax(${this.#value()})`,
    ])
  }

  #condition(): string {
    switch (this.#below(6)) {
      case 0:
        return this.#depth > 3
          ? 'true'
          : `(${this.#condition()} ${this.#pick(['&&', '||'])} ${this.#condition()})`
      case 1:
        return this.#chance(40) ? this.#pick(['true', 'false']) : `!(${this.#value()} > 1u)`
      default:
        return `(${this.#value()} ${this.#pick(['<', '==', '!='])} ${this.#value()})`
    }
  }

  #call({ name, parameters }: FunctionShape): string {
    return `${name}(${parameters.map((type) => this.#argument(type)).join(', ')})`
  }

  #argument(type: string): string {
    const variables = this.#variables()
    const local = (wanted: string) => variables.filter((v) => v.kind === 'var' && v.type === wanted)
    const address = (name: string) => (name.startsWith('(*') ? name.slice(2, -1) : `&${name}`)
    switch (type) {
      case 'u32':
        return this.#value()
      case 'ptr<function, u32>': {
        const choices = [
          ...local('u32').map((v) => `&${v.name}`),
          ...local('array<u32, 4>')
            .filter((v) => !v.isStorage)
            .map((v) => `&${v.name}[${this.#index()}]`),
          ...local('Pair').map((v) => `&${v.name}.a`),
        ]
        return choices.length === 0 ? this.#fresh('u32') : this.#pick(choices)
      }
      case 'ptr<function, array<u32, 4>>': {
        const choices = local('array<u32, 4>').filter((v) => !v.isStorage)
        return choices.length === 0 ? this.#fresh('array<u32, 4>') : address(this.#pick(choices).name)
      }
      case 'ptr<function, Pair>': {
        const choices = local('Pair')
        return choices.length === 0 ? this.#fresh('Pair') : address(this.#pick(choices).name)
      }
      case 'ptr<storage, array<u32>, read_write>':
        return '&o'
      case 'ptr<storage, u32, read>':
        return `&r[${this.#index()}]`
      case 'ptr<storage, u32, read_write>':
        return `&o[${this.#index()}]`
      case 'ptr<workgroup, u32>':
        return `&w[${this.#index()}]`
      case 'ptr<private, u32>':
        return '&pv'
      default:
        return `&un[${this.#index()}]`
    }
  }

  /** A variable that the function's outermost scope will declare; there is always one of each, by name. */
  #fresh(type: string): string {
    return `&spare_${type.startsWith('array') ? 'array' : type.toLowerCase()}`
  }

  // ---------------------------------------------------------------------------------------------------
  // statements

  #statements(count: number, around: Around): string {
    let text = ''
    for (let i = 0; i < count && this.#budget > 0; i++) text += this.#statement(around)
    return text
  }

  #block(around: Around, tail = ''): string {
    this.#scopes.push([])
    const text = this.#statements(1 + this.#below(3), around)
    this.#scopes.pop()
    return `${this.#attribute(2)}{\n${text}${tail}}`
  }

  #jump(around: Around): string {
    const jumps: string[] = []
    if (around.breakable) jumps.push('break;', 'break;')
    if (around.loop) jumps.push('continue;')
    if (!around.continuing) jumps.push(this.#returns ? `return ${this.#value()};` : 'return;')
    return jumps.length === 0 ? '' : `  ${this.#pick(jumps)}\n`
  }

  #statement(around: Around): string {
    this.#budget--
    const kind = this.#below(24)
    switch (kind) {
      case 0:
        return this.#declare(this.#pick(['u32', 'vec3u', 'array<u32, 4>', 'Pair']))
      case 1: {
        const value = this.#value()
        const name = this.#name('c')
        this.#scopes.at(-1)!.push({ name, type: 'u32', kind: 'let' })
        return `  let ${name} = ${value};\n`
      }
      case 2:
        return this.#pointer()
      case 3:
      case 4:
      case 5:
      case 6:
        return this.#assign()
      case 7:
        return `  ${this.#pick(['workgroupBarrier', 'storageBarrier'])}();\n`
      case 8:
        return `  _ = ${this.#subgroup()};\n`
      case 9: {
        const f = this.#functions.length === 0 ? undefined : this.#pick(this.#functions)
        return f === undefined ? '  pv = 1u;\n' : `  ${f.returns ? '_ = ' : ''}${this.#call(f)};\n`
      }
      case 10:
      case 11:
      case 12:
      case 13: {
        const jump = this.#chance(45) ? this.#jump(around) : ''
        const then = `  ${this.#attribute()}if (${this.#condition()}) ${this.#block(around, jump)}`
        const otherwise = this.#chance(40)
          ? ` else ${this.#chance(20) ? `if (${this.#condition()}) ` : ''}${this.#block(around, this.#chance(20) ? this.#jump(around) : '')}`
          : ''
        return `${then}${otherwise}\n`
      }
      case 14:
        return this.#switch(around)
      case 15:
      case 16:
        return this.#for(around)
      case 17:
        return `  ${this.#attribute()}while (${this.#condition()}) ${this.#block({ loop: true, breakable: true, continuing: around.continuing }, this.#chance(15) ? this.#jump({ ...around, loop: true, breakable: true }) : '')}\n`
      case 18:
      case 19:
        return this.#loop(around)
      case 20:
        return `  ${this.#block(around)}\n`
      case 21:
        return this.#chance(8) ? this.#jumpAnywhere(around) : `  o[${this.#value()}] = ${this.#value()};\n`
      default:
        return this.#assign()
    }
  }

  /** A jump with code after it that is never reached. */
  #jumpAnywhere(around: Around): string {
    return `  if (${this.#condition()}) {\n${this.#jump(around)}  workgroupBarrier();\n}\n`
  }

  #pointer(): string {
    const bases = this.#variables().filter((v) => v.kind === 'var')
    const base = bases.length === 0 ? undefined : this.#pick(bases)
    const name = this.#name('q')
    let target: string
    let kind: Variable['kind'] = 'pointer'
    if (base === undefined || this.#chance(20)) {
      target = this.#pick(['o[2]', `r[${this.#index()}]`, `w[${this.#index()}]`, 'pv'])
      if (target.startsWith('r')) kind = 'constant-pointer'
    } else if (base.type === 'vec3u' || base.isStorage) return this.#assign()
    else target = base.type === 'Pair' ? `${base.name}.a` : this.#part(base)
    this.#scopes.at(-1)!.push({ name, type: 'u32', kind })
    return `  let ${name} = &${target};\n`
  }

  #assign(): string {
    const targets = this.#variables().filter((v) => v.kind === 'var' || v.kind === 'pointer')
    if (targets.length === 0) return `  pv = ${this.#value()};\n`
    const target = this.#pick(targets)
    const part = this.#part(target)
    switch (this.#below(6)) {
      case 0:
        return `  ${part.startsWith('*') ? `(${part})` : part}${this.#pick(['++', '--'])};\n`
      case 1:
        return `  ${part} ${this.#pick(['+=', '^='])} ${this.#value()};\n`
      case 2:
        if (target.type === 'vec3u')
          return `  ${target.name}.${this.#pick(['xyz', 'zyx', 'xy', 'yx', 'rgb'])} `.concat(this.#swizzle())
        return `  ${part} = ${this.#value()};\n`
      case 3:
      case 4:
        if (target.kind === 'var' && !target.isStorage)
          return `  ${target.name} = ${this.#valueOf(target.type)};\n`
        return `  ${part} = ${this.#value()};\n`
      default:
        return `  ${part} = ${this.#value()};\n`
    }
  }

  #swizzle(): string {
    return `*= ${this.#value()};\n`
  }

  #switch(around: Around): string {
    const inside = { ...around, breakable: true }
    const clauses = Array.from(
      { length: this.#below(3) },
      (_, i) => `case ${i}: ${this.#block(inside, this.#chance(25) ? this.#jump(inside) : '')}\n`,
    )
    return `  ${this.#attribute()}switch (${this.#value()}) ${this.#attribute(2)}{\n${clauses.join('')}default: ${this.#block(inside, this.#chance(20) ? this.#jump(inside) : '')}\n}\n`
  }

  #for(around: Around): string {
    const name = this.#name('i')
    const initial = this.#value()
    this.#scopes.push([{ name, type: 'u32', kind: 'var' }])
    const condition = this.#chance(70) ? `${name} < ${this.#value()}` : this.#condition()
    const update = this.#chance(70) ? `${name}++` : this.#chance(50) ? `${name} += ${this.#value()}` : ''
    const body = this.#block(
      { loop: true, breakable: true, continuing: around.continuing },
      this.#chance(15) ? this.#jump({ ...around, loop: true, breakable: true }) : '',
    )
    this.#scopes.pop()
    return `  ${this.#attribute()}for (var ${name} = ${initial}; ${condition}; ${update}) ${body}\n`
  }

  #loop(around: Around): string {
    const inside = { loop: true, breakable: true, continuing: around.continuing }
    this.#scopes.push([])
    let body = this.#statements(1 + this.#below(3), inside)
    let continuing = ''
    if (this.#chance(60)) {
      // The continuing block uses only outer names: a `continue` may bypass declarations of the body.
      const names = this.#scopes.pop()!
      this.#scopes.push([])
      const statements = this.#statements(this.#below(3), { loop: false, breakable: false, continuing: true })
      const leave = this.#chance(80) ? `  break if ${this.#condition()};\n` : ''
      this.#scopes.pop()
      this.#scopes.push(names)
      continuing = `  continuing ${this.#attribute(2)}{\n${statements}${leave}}\n`
      if (leave === '') body += `  if (${this.#condition()}) { break; }\n`
    } else {
      const leave =
        this.#chance(60) || (around.continuing && this.#chance(100))
          ? 'break;'
          : this.#returns
            ? `return ${this.#value()};`
            : 'return;'
      body += `  if (${this.#condition()}) { ${leave} }\n`
      if (this.#chance(15)) body += this.#jump({ ...around, loop: true, breakable: true })
    }
    this.#scopes.pop()
    return `  ${this.#attribute()}loop ${this.#attribute(2)}{\n${body}${continuing}}\n`
  }
}

interface Around {
  /** Whether `continue` is allowed here. */
  readonly loop: boolean
  readonly breakable: boolean
  /** Whether a continuing block, which `return` may not leave, surrounds this place. */
  readonly continuing: boolean
}
