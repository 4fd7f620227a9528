/** A value as a sentence may show it: `'2', a string`, or `a Promise: await it`. Never throws. */
export function describedValue(value: unknown): string {
  if (typeof value === 'string') return `'${value.length > 60 ? `${value.slice(0, 60)}…` : value}', a string`
  if (typeof value === 'bigint') return `${value}n, a bigint`
  if (typeof value === 'symbol') return 'a symbol'
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  if (value instanceof Promise) return 'a Promise: await it'
  if (Array.isArray(value)) return 'an array'
  const made: unknown = value.constructor
  return `an object (${typeof made === 'function' ? made.name : 'without a class'})`
}

/** `1 device`, `2 devices`. */
export function counted(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** The class name of a typed array, even from another realm; undefined for anything else. */
export function arrayName(value: unknown): string | undefined {
  return arrayTag.call(value)
}

const arrayTag: (this: unknown) => string | undefined = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)!.get!
