import { RandomAtomics } from './random-atomics.ts'
import { formsIn } from './random-calls.ts'
import { i32, u32, vectorOf } from './random-types.ts'

/** Elements of workgroup arrays that belong to one invocation. */
export const ownElements = 4

/**
 * Writes the cooperation of the invocations of a workgroup: elements of each, copies, reads of other
 * invocations' elements, subgroup operations.
 */
export class RandomCooperation extends RandomAtomics {
  /** Operations that all invocations of a workgroup must execute together. */
  together(indent: string): string {
    switch (this.below(3)) {
      case 0:
        return `${indent}${this.#ownElement()}\n`
      case 1:
        return this.#exchange(indent)
      default:
        return this.#copies(indent)
    }
  }

  /** The index of an element of this invocation in a workgroup array. */
  #own(): string {
    const k = this.oneIn(2) ? `${this.below(ownElements)}u` : `(${this.expression(u32, 1)} % ${ownElements}u)`
    return `li * ${ownElements}u + ${k}`
  }

  #ownElement(): string {
    const own = this.#own()
    const operator = this.pick(['=', '=', '+=', '^='])
    switch (this.below(5)) {
      case 0:
        return `words[${own}] ${operator} ${this.expression(u32, 2)};`
      case 1:
        return `tile[${own}] ${operator} ${this.expression(vectorOf('u32', 4), 1)};`
      case 2:
        return `more[li][${this.index(ownElements)}] ${operator} ${this.expression(i32, 2)};`
      case 3:
        return `state ${operator} words[${own}];`
      default:
        return `tile[${own}].${this.pick(['x', 'w'])} = ${this.expression(u32, 1)};`
    }
  }

  /** Copies that qualify to be asynchronous: into elements of this invocation, from read-only storage. */
  #copies(indent: string): string {
    const k = this.name('k')
    const source = () => this.pick([`quads[i + ${this.below(9)}u]`, `quads[${this.expression(u32, 1)}]`])
    const copy = (index: string) => `${indent}  tile[${index}] = ${source()};\n`
    const barrier = this.oneIn(2) ? `${indent}workgroupBarrier();\n` : ''
    const own = `li * ${ownElements}u`
    const single = () => `${indent}tile[${own} + ${this.below(ownElements)}u] = ${source()};\n`
    switch (this.below(3)) {
      case 0:
        return `${single()}${single()}${barrier}`
      case 1:
        return `${indent}for (var ${k} = ${own}; ${k} < ${own} + ${1 + this.below(ownElements)}u; ${k}++) {\n${copy(k)}${indent}}\n${barrier}`
      default:
        return `${indent}for (var ${k} = 0u; ${k} < ${1 + this.below(ownElements)}u; ${k} += ${1 + this.below(2)}u) {\n${copy(`${own} + ${k}`)}${indent}}\n${barrier}${this.oneIn(2) ? single() : ''}`
    }
  }

  /** Elements of other invocations, read between barriers. */
  #exchange(indent: string): string {
    const elements = this.threads * ownElements
    const at = () =>
      this.pick([
        `${elements - 1}u - li`,
        `(li + ${this.below(99)}u) % ${elements}u`,
        `(${this.expression(u32, 1)} ^ li)`,
      ])
    const read = this.pick([
      () => `words[${at()}]`,
      () => `tile[${at()}].${this.pick(['x', 'y', 'w'])}`,
      () => `u32(more[${at()}][${this.index(ownElements)}])`,
      () => `atomicLoad(&counts[${at()}])`,
      () => `tile[${at()}][${this.index(4)}]`,
    ])()
    if (this.oneIn(4)) {
      const value = this.name('limit')
      const text = `${indent}if li == ${this.below(this.threads)}u { shared_limit = ${this.expression(u32, 1)}; }
${indent}let ${value} = workgroupUniformLoad(&shared_limit);\n`
      this.variables.push({ name: value, type: u32, isMutable: false, isUniform: true })
      return text
    }
    // A function with a barrier also prevents copies from being asynchronous.
    if (!this.isStraight && this.oneIn(4)) {
      const target = this.pick(['state', 'out[i]', 'spill[i]', `words[${this.#own()}]`])
      return `${indent}${target} ${this.pick(['=', '+='])} meet(${this.expression(u32, 1)});\n`
    }
    const storage = this.oneIn(3) ? ' storageBarrier();' : ''
    return `${indent}workgroupBarrier();\n${indent}state ${this.pick(['=', '+=', '^='])} ${read};\n${indent}workgroupBarrier();${storage}\n`
  }

  subgroup(indent: string): string {
    const name = this.name('s')
    const isPortable = this.subgroups === 'any-size'
    const isWhole = this.threads % 32 === 0
    const forms = formsIn('subgroup').filter(
      ([, form]) => (form.isPortable || !isPortable) && (isWhole || !form.ofLane),
    )
    const operation = this.next(forms)[1].write(this, isPortable)
    // As a value, under the guard of a store, and as an operand of a compound assignment.
    switch (this.below(5)) {
      case 0:
        return `${indent}out[i] = ${operation};\n`
      case 1:
        return `${indent}state ${this.pick(['+=', '^=', '='])} ${operation};\n`
      case 2:
        return `${indent}words[${this.#own()}] ^= ${operation} + 1u;\n`
      case 3:
        return `${indent}spill[i] ${this.pick(['=', '+='])} ${operation};\n`
      default:
        this.variables.push({ name, type: u32, isMutable: false })
        return `${indent}let ${name} = ${operation};\n`
    }
  }
}
