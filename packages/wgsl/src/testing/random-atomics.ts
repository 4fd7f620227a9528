import type { BuiltinFunction } from '../builtin-functions.ts'
import { formsIn } from './random-calls.ts'
import { pointerForms, RandomMemory } from './random-memory.ts'
import { i32, u32 } from './random-types.ts'

/** Writes calls of atomic functions on workgroup memory. */
export class RandomAtomics extends RandomMemory {
  /** An atomic function on memory that only this invocation uses, through every form of pointer. */
  ownAtomic(counter: string | undefined): string {
    const [name] = this.next(formsIn('atomic'))
    const form = this.pick(pointerForms)
    const isSigned = form === 'member' && this.oneIn(2)
    const k = this.oneIn(2) ? `${this.below(4)}u` : `(${this.expression(u32, 1)} % 4u)`
    // Variables without elements per invocation belong to the first invocation.
    const guarded = (place: string) => ({ place, guard: 'if li == 0u ' })
    const target = (() => {
      switch (form) {
        case 'whole':
          return guarded('only')
        case 'constant element':
          return guarded(`firsts[${this.below(4)}u]`)
        case 'element by value':
          return guarded(`firsts[${this.index(4)}]`)
        case 'element by counter':
          if (counter !== undefined) return guarded(`firsts[${counter}]`)
          return { place: `counts[li * 4u + ${k}]`, guard: '' }
        case 'member':
          return { place: isSigned ? `boxes[li].rest[${k}]` : 'boxes[li].first', guard: '' }
        default:
          return { place: `counts[li * 4u + ${k}]`, guard: '' }
      }
    })()
    const kind = isSigned ? 'i32' : 'u32'
    const value = this.expression(isSigned ? i32 : u32, 1)
    const statement = (() => {
      if (form === 'let') {
        const p = this.name('p')
        return `let ${p} = &${target.place}; ${this.#atomicCall(name, p, value, kind)}`
      }
      if (form === 'parameter') {
        const f = this.name('atom')
        this.declarations.push(
          `fn ${f}(p: ptr<workgroup, atomic<${kind}>>, v: ${kind}) { ${this.#atomicCall(name, 'p', 'v', kind)} }`,
        )
        return `${f}(&${target.place}, ${value});`
      }
      return this.#atomicCall(name, `&${target.place}`, value, kind)
    })()
    return target.guard === '' ? statement : `${target.guard}{ ${statement} }`
  }

  #atomicCall(name: BuiltinFunction, pointer: string, value: string, kind: 'u32' | 'i32'): string {
    const result = (text: string) =>
      `state ${this.pick(['=', '+='])} ${kind === 'u32' ? text : `u32(${text})`};`
    const suffix = kind === 'u32' ? 'u' : 'i'
    if (name === 'atomicStore') return `atomicStore(${pointer}, ${value});`
    if (name === 'atomicLoad') return result(`atomicLoad(${pointer})`)
    if (name !== 'atomicCompareExchangeWeak')
      return this.oneIn(4) && name !== 'atomicExchange'
        ? `${name}(${pointer}, ${value});`
        : result(`${name}(${pointer}, ${value})`)
    const call = `atomicCompareExchangeWeak(${pointer}, ${this.below(3)}${suffix}, ${value})`
    return this.oneIn(2) ? result(`${call}.old_value`) : `if ${call}.exchanged { state += 1u; }`
  }
}
