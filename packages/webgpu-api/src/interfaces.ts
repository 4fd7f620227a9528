/** Only this package passes it to constructors, so `new GPUBuffer()` throws a TypeError. */
export const creation = Symbol('creation')

export function requireCreation(token: unknown): void {
  if (token !== creation) throw new TypeError('Illegal constructor')
}

/** A class of the API, or a base of such classes. */
type ApiClass = { readonly prototype: object; readonly name: string }

/** Sets the name that `Object.prototype.toString` shows for an interface, and makes its members enumerable. */
export function nameInterface(type: ApiClass): void {
  enumerateMembers(type)
  Object.defineProperty(type.prototype, Symbol.toStringTag, { value: type.name, configurable: true })
}

/** Makes the attributes and methods of a class enumerable, as Web IDL demands. */
export function enumerateMembers({ prototype }: ApiClass): void {
  for (const name of Object.getOwnPropertyNames(prototype))
    if (name !== 'constructor') Object.defineProperty(prototype, name, { enumerable: true })
}
