import {
  bitsOf,
  comparison,
  floatOperation,
  integerOperation,
  longOperation,
  roundTo,
  typedValue,
  widthOf,
} from './ptx-arithmetic.ts'
import { type Code, type Context, Operands, type Register, type Step } from './ptx-operands.ts'
import type { PtxFunction, PtxInstruction } from './ptx-text.ts'

/** Compiles a function to closures. */
export function compileCode(source: PtxFunction, context: Context): Code {
  const labels = new Map<string, number>()
  let count = 0
  for (const statement of source.statements)
    if ('label' in statement) labels.set(statement.label, count)
    else if (!('variable' in statement)) count++
  const operands = new Operands(source, context)
  const writer = new CodeWriter(operands, context, labels)
  const steps: Step[] = []
  for (const statement of source.statements)
    if ('variable' in statement) operands.declare(statement.variable)
    else if (!('label' in statement)) steps.push(writer.step(statement))
  return { steps, frameByteLength: operands.byteLength }
}

class CodeWriter {
  readonly #operands: Operands
  readonly #context: Context
  readonly #labels: ReadonlyMap<string, number>

  constructor(operands: Operands, context: Context, labels: ReadonlyMap<string, number>) {
    this.#operands = operands
    this.#context = context
    this.#labels = labels
  }

  step(instruction: PtxInstruction): Step {
    const { predicate, when } = instruction
    const step = this.#unconditional(instruction)
    if (predicate === undefined) return step
    const register = this.#operands.register(predicate)
    return (thread, frame) => {
      if (frame.registers[register] === when) step(thread, frame)
    }
  }

  #unconditional(instruction: PtxInstruction): Step {
    const { words, operands } = instruction
    const [name] = words
    switch (name) {
      case 'ret':
        return (thread) => {
          thread.frames.pop()
        }
      case 'exit':
        return (thread) => {
          thread.frames.length = 0
        }
      case 'bra': {
        const target = this.#labels.get(operands[0]!)!
        return (_, frame) => {
          frame.next = target
        }
      }
      case 'call':
        return this.#call(operands)
      case 'mov':
        return this.#move(instruction)
      case 'cvta':
        return this.#operands.assign(
          operands[0]!,
          words.at(-1)!,
          this.#operands.value(operands[1]!, words.at(-1)!),
        )
      case 'ld':
      case 'st':
        return this.#access(instruction)
      case 'atom':
      case 'red':
        return this.#atomic(instruction)
      case 'cvt':
        return this.#convert(instruction)
      case 'setp':
        return this.#compare(instruction)
      case 'selp': {
        const type = words.at(-1)!
        const [a, b] = [this.#operands.value(operands[1]!, type), this.#operands.value(operands[2]!, type)]
        const condition = this.#operands.condition(operands[3]!)
        return this.#operands.assign(operands[0]!, type, (t, f) => (condition(t, f) ? a : b)(t, f))
      }
      case 'bar':
      case 'barrier':
        if (words.includes('red') || words.includes('warp')) return this.#warpBarrier(instruction)
        return (thread) => {
          thread.wait = { kind: 'barrier' }
        }
      case 'shfl':
      case 'vote':
        return this.#together(instruction)
      case 'activemask': {
        const register = this.#operands.register(operands[0]!.slice(1))
        return (thread, frame) => {
          const done = (lanes: number) => {
            frame.registers[register] = lanes
          }
          thread.wait = { kind: 'active', site: instruction, done }
        }
      }
      case 'cp':
        return this.#asynchronousCopy(instruction)
      case 'membar':
      case 'fence':
        return () => {}
      case 'trap':
        return () => {
          throw new Error('the kernel ends with a trap')
        }
      default:
        return this.#compute(instruction)
    }
  }

  #call(operands: readonly string[]): Step {
    const list = (text: string | undefined) =>
      (text ?? '')
        .replace(/[()\s]/g, '')
        .split(',')
        .filter((name) => name !== '')
    const at = operands.findIndex((operand) => !operand.startsWith('('))
    const name = operands[at]!
    if (name.startsWith('%')) throw new TypeError('no calls of addresses')
    const [result] = (at > 0 ? list(operands[0]) : []).map((operand) => this.#operands.address(operand))
    const parameters = list(operands[at + 1]).map((operand) => this.#operands.address(operand))
    return (thread, frame) =>
      this.#context.call(
        thread,
        name,
        result?.(thread, frame) ?? 0,
        parameters.map((parameter) => parameter(thread, frame)),
      )
  }

  #move({ words, operands }: PtxInstruction): Step {
    const type = words.at(-1)!
    const [to, from] = operands as [string, string]
    if (type === 'pred') {
      const value = this.#operands.condition(from)
      const register = this.#operands.register(to.slice(1))
      return (thread, frame) => {
        frame.registers[register] = value(thread, frame)
      }
    }
    const parts = (text: string) =>
      text
        .slice(1, -1)
        .split(',')
        .map((part) => part.trim())
    const bits = `b${widthOf(type)}`
    if (from.startsWith('{')) {
      const part = parts(from)
      const width = widthOf(type) / part.length
      const values = part.map((operand) => this.#operands.value(operand, `b${width}`))
      return this.#operands.assign(to, bits, (t, f) =>
        values.reduce(
          (sum, value, i) => sum | (BigInt.asUintN(width, BigInt(value(t, f))) << BigInt(i * width)),
          0n,
        ),
      )
    }
    const value = this.#operands.value(from, bits)
    if (!to.startsWith('{')) return this.#operands.assign(to, bits, value)
    const part = parts(to)
    const width = widthOf(type) / part.length
    const steps = part.map((register, i) =>
      register === '_'
        ? () => {}
        : this.#operands.assign(register, `b${width}`, (t, f) =>
            Number(BigInt.asIntN(32, BigInt(value(t, f)) >> BigInt(i * width))),
          ),
    )
    return (thread, frame) => {
      for (const step of steps) step(thread, frame)
    }
  }

  #access({ words, operands }: PtxInstruction): Step {
    const { memory } = this.#context
    const type = words.at(-1)!
    const space =
      ['global', 'shared', 'local', 'param', 'const'].find((word) => words.includes(word)) ?? 'any'
    const isLoad = words[0] === 'ld'
    const list = (isLoad ? operands[0]! : operands[1]!).replace(/[{}]/g, '').split(',')
    const address = this.#operands.address(isLoad ? operands[1]! : operands[0]!)
    const size = widthOf(type) / 8
    let place = 0
    const steps = list.map((text, i): Step => {
      const operand = text.trim()
      if (isLoad && operand === '_') return () => {}
      // Floats are moved as bits.
      const moved = type.startsWith('f') ? `b${widthOf(type)}` : type
      if (isLoad) return this.#operands.assign(operand, moved, () => memory.read(place + i * size, moved))
      const value = this.#operands.value(operand, moved)
      return (thread, frame) => memory.write(place + i * size, moved, value(thread, frame))
    })
    const all = size * list.length
    return (thread, frame) => {
      place = address(thread, frame)
      memory.check(place, all, space, thread.rank)
      for (const step of steps) step(thread, frame)
    }
  }

  #atomic({ words, operands }: PtxInstruction): Step {
    const { memory } = this.#context
    const type = words.at(-1)!
    const hasResult = words[0] === 'atom'
    const space = words.includes('shared') ? 'shared' : words.includes('global') ? 'global' : 'any'
    const name = words.find((word) => /^(add|min|max|and|or|xor|exch|cas|inc|dec)$/.test(word))!
    const [place, ...values] = hasResult ? operands.slice(1) : operands
    const address = this.#operands.address(place!)
    const [a, b] = values.map((operand) => this.#operands.value(operand, type))
    const operation: ((old: never, value: never) => number | bigint) | undefined =
      name === 'exch'
        ? (_, value) => value
        : type === 'f32'
          ? floatOperation([name])
          : widthOf(type) === 64
            ? longOperation([name])
            : integerOperation([name], type)
    if (name !== 'cas' && operation === undefined) throw new TypeError(`no atomic ${name}`)
    const register = hasResult && operands[0] !== '_' ? operands[0] : undefined
    let old: number | bigint = 0
    const keep = register === undefined ? () => {} : this.#operands.assign(register, type, () => old)
    return (thread, frame) => {
      const at = address(thread, frame)
      memory.check(at, widthOf(type) / 8, space, thread.rank)
      old = typedValue(memory.read(at, `b${widthOf(type)}`), type)
      const value = a!(thread, frame)
      const written =
        name === 'cas' ? (old === value ? b!(thread, frame) : old) : operation!(old as never, value as never)
      memory.write(at, `b${widthOf(type)}`, bitsOf(written, type))
      keep(thread, frame)
    }
  }

  #convert({ words, operands }: PtxInstruction): Step {
    const [to, from] = words.slice(-2) as [string, string]
    const value = this.#operands.value(operands[1]!, from)
    const isFloat = (type: string) => type.startsWith('f')
    const round = roundTo(words)
    if (!isFloat(from)) {
      const number = isFloat(to) ? (v: number | bigint) => Number(v) : (v: number | bigint) => v
      if (words.includes('sat')) throw new TypeError('no saturated conversion of integers')
      return this.#operands.assign(operands[0]!, to, (t, f) => convertedValue(number(value(t, f)), to))
    }
    if (isFloat(to)) {
      const whole = round ?? ((v: number) => v)
      const limit = words.includes('sat') ? (v: number) => Math.min(Math.max(v || 0, 0), 1) : (v: number) => v
      return this.#operands.assign(operands[0]!, to, (t, f) => limit(whole(value(t, f) as number)))
    }
    const isSigned = to.startsWith('s')
    const width = widthOf(to)
    const least = isSigned ? -(2 ** (width - 1)) : 0
    const most = isSigned ? 2 ** (width - 1) - 1 : 2 ** width - 1
    return this.#operands.assign(operands[0]!, to, (t, f) => {
      const whole = round!(value(t, f) as number)
      const near = Number.isNaN(whole) ? 0 : Math.min(Math.max(whole, least), most)
      return width === 64 ? BigInt(near) : near
    })
  }

  #compare({ words, operands }: PtxInstruction): Step {
    const type = words.at(-1)!
    const compare = comparison(words[1]!, type.startsWith('f'))
    const [target, left, right, other] = operands as [string, string, string, string?]
    const [a, b] = [this.#operands.value(left, type), this.#operands.value(right, type)]
    const [to, second] = target
      .split('|')
      .map((register) => this.#operands.register(register.replace('%', '')))
    const combine = words.length > 3 ? words[2] : undefined
    const also = other === undefined ? () => true : this.#operands.condition(other)
    const combined = (value: boolean, c: boolean) =>
      combine === 'or' ? value || c : combine === 'xor' ? value !== c : value && c
    return (thread, frame) => {
      const value = compare(a(thread, frame), b(thread, frame))
      const c = also(thread, frame)
      frame.registers[to!] = combined(value, c)
      if (second !== undefined) frame.registers[second] = combined(!value, c)
    }
  }

  #warpBarrier({ words, operands }: PtxInstruction): Step {
    if (!words.includes('warp')) throw new TypeError('no reductions at barriers')
    const mask = this.#operands.number(operands[0]!, 'b32')
    return (thread, frame) => {
      const done = () => {}
      thread.wait = { kind: 'warp', name: 'barrier', mask: mask(thread, frame), value: 0, done }
    }
  }

  #together(instruction: PtxInstruction): Step {
    const { words, operands } = instruction
    const [name, , how] = words as [string, string, string]
    const mask = this.#operands.number(operands.at(-1)!, 'b32')
    const [target, second] = operands[0]!.split('|').map((register) => register.replace('%', ''))
    const to = this.#operands.register(target!)
    const valid = second === undefined ? undefined : this.#operands.register(second)
    if (name === 'shfl') {
      const value = this.#operands.number(operands[1]!, 'b32')
      const by = this.#operands.number(operands[2]!, 'u32')
      const bounds = this.#operands.number(operands[3]!, 'u32')
      return (thread, frame) => {
        const lane = thread.rank & 31
        const c = bounds(thread, frame)
        const segment = (c >> 8) & 31
        const highest = (lane & segment) | (c & 31 & ~segment)
        const b = by(thread, frame) & 31
        const from =
          how === 'up'
            ? lane - b
            : how === 'down'
              ? lane + b
              : how === 'bfly'
                ? lane ^ b
                : (lane & segment) | (b & ~segment)
        const isValid = how === 'up' ? from >= highest : from <= highest
        const own = value(thread, frame)
        const source = isValid ? from : lane
        const done = (values: ReadonlyMap<number, number>) => {
          const seen = values.get(source)
          if (seen === undefined)
            throw new Error(`lane ${lane} reads the value of lane ${source}, which is not there`)
          frame.registers[to] = seen
          if (valid !== undefined) frame.registers[valid] = isValid
        }
        thread.wait = {
          kind: 'warp',
          name: 'shfl',
          mask: mask(thread, frame),
          value: own,
          done,
        }
      }
    }
    if (name === 'vote') {
      const condition = this.#operands.condition(operands[1]!)
      const results: Record<string, (ballot: number, all: number) => Register> = {
        ballot: (ballot) => ballot,
        all: (ballot, all) => ballot === all,
        any: (ballot) => ballot !== 0,
        uni: (ballot, all) => ballot === 0 || ballot === all,
      }
      return (thread, frame) => {
        const done = (values: ReadonlyMap<number, number>) => {
          let [ballot, all] = [0, 0]
          for (const [lane, value] of values) {
            ballot |= value << lane
            all |= 1 << lane
          }
          frame.registers[to] = results[how]!(ballot, all)
        }
        const value = condition(thread, frame) ? 1 : 0
        thread.wait = { kind: 'warp', name: 'vote', mask: mask(thread, frame), value, done }
      }
    }
    throw new TypeError(`no ${words.join('.')}`)
  }

  #asynchronousCopy({ words, operands }: PtxInstruction): Step {
    const { memory } = this.#context
    if (words.includes('commit_group'))
      return ({ copies }) => {
        copies.push([])
      }
    if (words.includes('wait_all') || words.includes('wait_group')) {
      const left = words.includes('wait_all') ? 0 : Number(operands[0])
      return ({ copies }) => {
        // The last group has not been committed; `wait_group` leaves it alone.
        const count = words.includes('wait_all') ? copies.length : copies.length - 1 - left
        for (const copy of copies.splice(0, Math.max(count, 0)).flat()) copy()
        if (copies.length === 0) copies.push([])
      }
    }
    const [to, from] = [this.#operands.address(operands[0]!), this.#operands.address(operands[1]!)]
    const byteLength = Number(operands[2])
    return (thread, frame) => {
      const [target, source] = [to(thread, frame), from(thread, frame)]
      memory.check(target, byteLength, 'shared', thread.rank)
      memory.check(source, byteLength, 'global', thread.rank)
      thread.copies.at(-1)!.push(() => memory.copy(target, source, byteLength))
    }
  }

  #compute({ words, operands }: PtxInstruction): Step {
    const type = words.at(-1)!
    const [to, ...from] = operands as [string, ...string[]]
    if (type === 'pred') return this.#logic(words[0]!, to, from)
    const width = widthOf(type)
    const isWide = words[1] === 'wide'
    const resultType = isWide ? `${type[0]}${2 * width}` : type
    const operation: ((...operands: never[]) => number | bigint) | undefined = type.startsWith('f')
      ? floatOperation(words)
      : isWide
        ? wideProduct(words[0]!, 2 * width)
        : width === 64
          ? (longOperation(words) ?? longWithCounts(words))
          : integerOperation(words, type)
    if (operation === undefined) throw new TypeError(`no instruction ${words.join('.')}`)
    const isShift = words[0] === 'shl' || words[0] === 'shr'
    const typeOf = (i: number) =>
      isShift && i === 1 ? 'u32' : isWide && i === 2 ? resultType : words[0] === 'bfe' && i > 0 ? 'u32' : type
    const values = from.map((operand, i) => this.#operands.value(operand, typeOf(i)))
    const result = /^(popc|clz|bfind)$/.test(words[0]!) ? 'u32' : resultType
    return this.#operands.assign(to, result, (thread, frame) =>
      operation(...(values.map((value) => value(thread, frame)) as never[])),
    )
  }

  #logic(name: string, to: string, from: readonly string[]): Step {
    const register = this.#operands.register(to.slice(1))
    const [a, b] = from.map((operand) => this.#operands.condition(operand))
    const operations: Record<string, (a: boolean, b: boolean) => boolean> = {
      and: (x, y) => x && y,
      or: (x, y) => x || y,
      xor: (x, y) => x !== y,
      not: (x) => !x,
    }
    const operation = operations[name]
    if (operation === undefined) throw new TypeError(`no ${name} of predicates`)
    return (thread, frame) => {
      frame.registers[register] = operation(a!(thread, frame), b?.(thread, frame) ?? false)
    }
  }
}

/** A number as the type of a conversion's result needs it. */
const convertedValue = (value: number | bigint, type: string) =>
  type.startsWith('f') ? value : typedValue(widthOf(type) === 64 ? BigInt(value) : value, type)

function wideProduct(name: string, width: number): (a: never, b: never, c: never) => number | bigint {
  if (width === 64) {
    const product = (a: number, b: number) => BigInt(a) * BigInt(b)
    return name === 'mul' ? product : (a: number, b: number, c: bigint) => product(a, b) + c
  }
  return name === 'mul' ? (a: number, b: number) => a * b : (a: number, b: number, c: number) => a * b + c
}

/** Operations on 64 bits with an operand or a result of 32. */
function longWithCounts(words: readonly string[]): ((a: never, b: never) => number | bigint) | undefined {
  switch (words[0]) {
    case 'shl':
      return (a: bigint, b: number) => (b > 63 ? 0n : a << BigInt(b))
    case 'shr':
      return (a: bigint, b: number) => (a >> BigInt(Math.min(b, 63))) >> (b > 63 ? 1n : 0n)
    case 'popc':
      return (a: bigint) => [...a.toString(2)].filter((bit) => bit === '1').length
    case 'clz':
      return (a: bigint) => (a === 0n ? 64 : 64 - a.toString(2).length)
    default:
      return undefined
  }
}
