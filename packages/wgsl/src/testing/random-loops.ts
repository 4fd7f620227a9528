import { RandomCooperation } from './random-cooperation.ts'
import type { Variable } from './random-expressions.ts'
import { bool, u32, vectorOf } from './random-types.ts'

/** Writes terminating loops of every form, around statements that a subclass writes. */
export abstract class RandomLoops extends RandomCooperation {
  /** The surrounding loops that `break` may leave. */
  protected loops = 0
  /** All surrounding loops; deeper nesting would only take longer. */
  protected depth = 0
  /**
   * Whether every invocation of the workgroup reaches this place, so that barriers and subgroup operations
   * are allowed.
   */
  protected isUniform = false

  /** Writes the given number of statements. */
  protected abstract statements(count: number, indent: string): string

  /**
   * A block with its own scope; `isUniform` says whether all invocations that reach the block together reach
   * its statements together.
   */
  protected abstract block(indent: string, isUniform?: boolean, first?: string): string

  #inLoop<T>(write: () => T): T {
    const outer = this.variables
    this.variables = [...outer]
    this.loops++
    this.depth++
    const text = write()
    this.depth--
    this.loops--
    this.variables = outer
    return text
  }

  protected for(indent: string): string {
    const k = this.name('k')
    const kind = this.pick(['u32', 'i32'] as const)
    const suffix = kind === 'u32' ? 'u' : 'i'
    const literal = (n: number) => (n < 0 ? `i32(${n})` : `${n}${suffix}`)
    const type = vectorOf(kind, 1)
    const counter: Variable = { name: k, type, isMutable: false }
    const header = (first: string, relation: string, bound: string, update: string) =>
      `for (var ${k} = ${first}; ${this.oneIn(5) ? `${bound} ${flipped[relation]!} ${k}` : `${k} ${relation} ${bound}`}; ${update})`
    if (this.oneIn(3)) {
      // Few repetitions, by all invocations together; a divergent `break` would separate them.
      const [first, bound, step, relation] = this.pick([
        [0, 1 + this.below(5), 1, '<'],
        [3, 3 + this.below(4), 2, '<='],
        [7, 1 + this.below(6), -2, '>'],
        [2, 8, 3, this.oneIn(2) ? '!=' : '<'],
        [0, 0, 1, '<'],
      ] as const)
      // With `!=`, a counter must not step over a bound that is known only at run time.
      const isKnown = kind === 'i32' || step < 0 || relation === '!=' || this.oneIn(2)
      const head = header(
        literal(first),
        relation,
        isKnown ? literal(bound) : `min(limits.${this.pick(['x', 'z'])}, ${literal(bound)})`,
        step > 0 ? `${k} += ${literal(step)}` : `${k} -= ${literal(-step)}`,
      )
      const loops = this.loops
      this.loops = this.isUniform ? 0 : this.loops
      const text = this.#inLoop(() => {
        this.variables.push({ ...counter, isUniform: true })
        if (this.isUniform) this.loops = 0
        return `${indent}${head} ${this.block(indent, true)}\n`
      })
      this.loops = loops
      return text
    }
    // Arbitrary bounds and steps: the counter may wrap around, and iterations are counted so that the loop
    // ends.
    const turns = this.name('turns')
    const extremes = kind === 'u32' ? [0, 1, 5, 4294967290, 2147483648] : [0, 5, -7, 2147483640, -2147483648]
    const first = this.oneIn(2) ? literal(this.pick(extremes)) : this.expression(type, 1)
    const bound = this.oneIn(2) ? literal(this.pick(extremes)) : this.expression(type, 1)
    const step = literal(this.pick([1, 1, 2, 3, 1073741824, 2147483647]))
    const relation = this.pick(['<', '<=', '>', '>=', '!='])
    const update = this.pick([
      `${k} += ${step}`,
      `${k} += ${step}`,
      `${k} -= ${step}`,
      `${k}++`,
      `${k} *= 3${suffix}`,
      kind === 'u32' ? `${k} >>= 1u` : `${k} /= 2i`,
    ])
    if (this.oneIn(4)) return this.#oddFor(indent, counter, turns)
    const text = this.#inLoop(() => {
      this.variables.push(this.oneIn(6) ? { ...counter, isMutable: true } : counter)
      const guard = `${indent}  ${turns} += 1u; if ${turns} > ${2 + this.below(6)}u { break; }\n`
      return `${indent}${header(first, relation, bound, update)} ${this.block(indent, false, guard)}\n`
    })
    return `${indent}var ${turns} = 0u;\n${text}`
  }

  /**
   * A `for` without one of its parts, with a step that is known only at run time, or with a condition on
   * another variable.
   */
  #oddFor(indent: string, counter: Variable, turns: string): string {
    const { name: k, type } = counter
    const suffix = type.kind === 'u32' ? 'u' : 'i'
    const step = this.pick([
      this.scalar(type.kind as 'u32' | 'i32'),
      `(${this.scalar('u32')} & 3u)`,
      `0${suffix}`,
    ])
    const known = type.kind === 'u32' ? step : step.startsWith('(') ? `i32${step}` : step
    const [before, first] = this.oneIn(3)
      ? [`${indent}var ${k} = 1${suffix};\n`, '']
      : ['', `var ${k} = ${this.oneIn(2) ? `0${suffix}` : this.expression(type, 1)}`]
    const condition = this.pick([
      '',
      this.expression(bool, 1),
      `${k} < 9${suffix}`,
      `${turns} < 3u`,
      `${k} + 1${suffix} < 9${suffix}`,
    ])
    const update = this.pick([
      '',
      `${k} = ${k} + 1${suffix}`,
      `${k} += ${known}`,
      `${k} -= ${known}`,
      `${k}++`,
    ])
    const text = this.#inLoop(() => {
      this.variables.push(counter)
      const guard = `${indent}  ${turns} += 1u; if ${turns} > ${2 + this.below(4)}u { break; }\n`
      return `${indent}for (${first}; ${condition}; ${update}) ${this.block(indent, false, guard)}\n`
    })
    return `${indent}{\n${indent}var ${turns} = 0u;\n${before}${text}${indent}}\n`
  }

  /** A loop that all invocations execute together, without a divergent `break`. */
  #togetherInLoop(k: string, indent: string, write: (block: string) => string): string {
    const loops = this.loops
    const text = this.#inLoop(() => {
      this.variables.push({ name: k, type: u32, isMutable: false, isUniform: true })
      this.loops = 0
      return write(this.block(indent, true))
    })
    this.loops = loops
    return text
  }

  protected loop(indent: string): string {
    const k = this.name('k')
    const inner = `${indent}  `
    const head = `${indent}var ${k} = 0u;\n${indent}loop {\n`
    if (this.isUniform && this.oneIn(2)) {
      const count = this.pick(['2u', '3u', 'min(limits.z, 4u)', this.isInputStructure ? '1u' : 'wid.x'])
      const [first, last] = this.oneIn(2)
        ? [`${inner}if ${k} >= ${count} { break; }\n`, '']
        : ['', `${inner}  break if ${k} >= ${count};\n`]
      return this.#togetherInLoop(
        k,
        inner,
        (block) =>
          `${head}${first}${inner}${block}\n${inner}continuing {\n${inner}  ${k} += 1u;\n${last}${inner}}\n${indent}}\n`,
      )
    }
    return this.#inLoop(() => {
      const outer = { isUniform: this.isUniform, variables: this.variables }
      this.isUniform = false
      this.variables = [...outer.variables, { name: k, type: u32, isMutable: false }]
      const body = this.statements(1 + this.below(2), inner)
      this.variables = outer.variables
      const last = this.oneIn(2) ? `${inner}  break if ${this.expression(bool, 1)};\n` : ''
      const leave = `${inner}if ${k} > ${1 + this.below(3)}u { break; }\n`
      if (this.oneIn(3)) {
        // The continuing block sees the declarations of the body.
        this.isUniform = outer.isUniform
        const [v, step] = [this.name('v'), this.name('step')]
        const declared = `${inner}let ${step} = ${1 + this.below(2)}u;\n${inner}var ${v} = ${this.expression(u32, 1)};\n`
        const continuing = `${inner}continuing {\n${inner}  ${k} += ${step}; state += ${v};\n${inner}  break if ${v} == ${this.below(3)}u;\n${inner}}\n`
        return `${head}${leave}${declared}${inner}{\n${body}${inner}}\n${continuing}${indent}}\n`
      }
      this.isUniform = outer.isUniform
      if (this.oneIn(4))
        return `${head}${inner}${k} += 1u;\n${leave}${inner}{\n${body}${inner}}\n${indent}}\n`
      return `${head}${leave}${inner}{\n${body}${inner}}\n${inner}continuing {\n${inner}  ${k} += 1u;\n${last}${inner}}\n${indent}}\n`
    })
  }

  protected while(indent: string): string {
    const k = this.name('w')
    if (this.isUniform && this.oneIn(2)) {
      const count = this.pick(['2u', 'min(limits.z, 3u)', this.isInputStructure ? '1u' : 'wid.y + 1u'])
      return this.#togetherInLoop(
        k,
        `${indent}  `,
        (block) =>
          `${indent}var ${k} = 0u;\n${indent}while ${k} < ${count} {\n${indent}  ${block}\n${indent}  ${k}++;\n${indent}}\n`,
      )
    }
    const block = this.#inLoop(() => {
      this.variables.push({ name: k, type: u32, isMutable: false })
      return this.block(indent, false, `${indent}  ${k} -= 1u;\n`)
    })
    const condition = `${k} > 0u${this.oneIn(2) ? '' : ` && ${this.expression(bool, 1)}`}`
    return `${indent}var ${k} = ${2 + this.below(4)}u;\n${indent}while ${condition} ${block}\n`
  }
}

const flipped: Record<string, string> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '!=': '!=' }
