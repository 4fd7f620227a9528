/** Only this package passes it to constructors, so `new GPUBuffer()` throws a TypeError. */
export const creation = Symbol('creation')

export function requireCreation(token: unknown): void {
  if (token !== creation) throw new TypeError('Illegal constructor')
}

/** A class of the API, or a base of such classes. */
type ApiClass = { readonly prototype: object; readonly name: string }

/**
 * Makes a class an interface of Web IDL: sets the name that `Object.prototype.toString` shows, and makes the
 * attributes and methods enumerable. Base classes that are not interfaces are mixins: their members become
 * members of the interface itself.
 */
export function nameInterface({ prototype, name }: ApiClass): void {
  let base = Object.getPrototypeOf(prototype) as object
  for (; base !== Object.prototype && !isInterface(base); base = Object.getPrototypeOf(base) as object)
    Object.defineProperties(prototype, {
      ...Object.getOwnPropertyDescriptors(base),
      ...Object.getOwnPropertyDescriptors(prototype),
    })
  Object.setPrototypeOf(prototype, base)
  for (const member of Object.getOwnPropertyNames(prototype))
    if (member !== 'constructor') Object.defineProperty(prototype, member, { enumerable: true })
  Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true })
}

const isInterface = (prototype: object) => Object.hasOwn(prototype, Symbol.toStringTag)
