/** Only this package passes it to constructors, so `new GPUBuffer()` throws a TypeError. */
export const creation = Symbol('creation')

export function requireCreation(token: unknown): void {
  if (token !== creation) throw new TypeError('Illegal constructor')
}

/** The class of an API interface, for `instanceof`. */
export type Interface<O> = abstract new (...args: never[]) => O

/** Converts an argument to an object of an interface. */
export function toObject<O>(value: unknown, type: Interface<O>, what: string): O {
  if (!(value instanceof type)) throw new TypeError(`${what} is not a ${type.name}.`)
  return value
}

/** Sets the name that `Object.prototype.toString` shows for an interface. */
export function nameInterface(type: { readonly prototype: object; readonly name: string }): void {
  Object.defineProperty(type.prototype, Symbol.toStringTag, { value: type.name, configurable: true })
}
