/*
 * Conversions of JavaScript values to Web IDL types. The methods of the API apply them to their arguments
 * first; a wrong argument throws a TypeError.
 */

/** A dictionary whose members are still to be converted. */
export type Dictionary = Readonly<Record<string, unknown>>

/** `[EnforceRange] unsigned long`: GPUSize32, GPUIndex32, GPUFlagsConstant. */
export function toU32(value: unknown, what: string): number {
  return enforceRange(value, 0xffff_ffff, what)
}

/** `[EnforceRange] unsigned long long`: GPUSize64. */
export function toU64(value: unknown, what: string): number {
  return enforceRange(value, Number.MAX_SAFE_INTEGER, what)
}

/** `unsigned long`: any number, modulo 2^32. */
export function toUnsignedLong(value: unknown): number {
  // Unary plus throws for bigints and symbols.
  return +(value as number) >>> 0
}

function enforceRange(value: unknown, largest: number, what: string): number {
  // Unary plus is ToNumber: it throws for bigints and symbols.
  const number = typeof value === 'number' ? value : +(value as number)
  const whole = Math.trunc(number)
  if (!(whole >= 0 && whole <= largest))
    throw new TypeError(`${what} is ${String(number)}; it must be a whole number from 0 to ${largest}.`)
  return whole + 0
}

/** `double`: finite numbers only. */
export function toDouble(value: unknown, what: string): number {
  const number = +(value as number)
  if (!Number.isFinite(number)) throw new TypeError(`${what} is ${number}; it must be finite.`)
  return number
}

/** `USVString`. */
export function toText(value: unknown): string {
  const text = typeof value === 'string' ? value : `${value as string}`
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
}

export function toEnum<E extends string>(value: unknown, values: readonly E[], what: string): E {
  const text = `${value as string}` as E
  if (!values.includes(text))
    throw new TypeError(`${what} is '${text}'; it must be one of ${values.map((v) => `'${v}'`).join(', ')}.`)
  return text
}

/** Undefined and null convert to an empty dictionary. */
export function toDictionary(value: unknown, what: string): Dictionary {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' && typeof value !== 'function')
    throw new TypeError(`${what} is ${String(value)}; it must be an object.`)
  return value as Dictionary
}

/** A required member. */
export function required(dictionary: Dictionary, name: string, what: string): unknown {
  const value = dictionary[name]
  if (value === undefined) throw new TypeError(`The member ${name} of ${what} is missing.`)
  return value
}

/** A member with a default. Members are read once, because reading one may run a getter. */
export function member<T>(
  dictionary: Dictionary,
  name: string,
  fallback: T,
  convert: (value: unknown, what: string) => T,
): T {
  const value = dictionary[name]
  return value === undefined ? fallback : convert(value, name)
}

export function toSequence<T>(value: unknown, convert: (item: unknown) => T, what: string): T[] {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function'))
    throw new TypeError(`${what} is ${String(value)}; it must be iterable.`)
  if (Array.isArray(value) && value[Symbol.iterator] === Array.prototype[Symbol.iterator]) {
    // `map` could be the caller's, or make an array of the caller's class.
    const items: T[] = []
    for (let i = 0; i < value.length; i++) items.push(convert(value[i]))
    return items
  }
  const iterate = (value as Partial<Iterable<unknown>>)[Symbol.iterator]
  if (typeof iterate !== 'function') throw new TypeError(`${what} is not iterable.`)
  return Array.from({ [Symbol.iterator]: () => iterate.call(value) }, (item) => convert(item))
}

/** `record<USVString, T>`: own enumerable members. */
export function toRecord<T>(
  value: unknown,
  convert: (item: unknown, key: string) => T,
  what: string,
): [key: string, value: T][] {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function'))
    throw new TypeError(`${what} is ${String(value)}; it must be an object.`)
  const found = new Map<string, T>()
  for (const key of Reflect.ownKeys(value)) {
    if (Reflect.getOwnPropertyDescriptor(value, key)?.enumerable !== true) continue
    // A template string throws for symbols.
    const name = toText(key)
    found.set(name, convert((value as Dictionary)[key as string], name))
  }
  return [...found]
}

/** `label` of a GPUObjectDescriptorBase. */
export function labelOf(dictionary: Dictionary): string {
  const { label } = dictionary
  return label === undefined ? '' : toText(label)
}

/** Throws if a method received fewer than `wanted` arguments. */
export function requireArguments(given: number, wanted: number, method: string): void {
  if (given < wanted)
    throw new TypeError(
      `${method} needs at least ${wanted} argument${wanted === 1 ? '' : 's'}, but got ${given}.`,
    )
}

/** The memory of an AllowSharedBufferSource, and the byte length of one of its elements. */
export function toBufferSource(
  value: unknown,
  what: string,
): { bytes: Uint8Array; elementByteLength: number } {
  if (ArrayBuffer.isView(value)) {
    const elementByteLength = 'BYTES_PER_ELEMENT' in value ? (value.BYTES_PER_ELEMENT as number) : 1
    if (isDetached(value.buffer)) return { bytes: new Uint8Array(), elementByteLength }
    const { buffer, byteOffset, byteLength } = value
    return { bytes: new Uint8Array(buffer, byteOffset, byteLength), elementByteLength }
  }
  if (isArrayBuffer(value))
    return { bytes: isDetached(value) ? new Uint8Array() : new Uint8Array(value), elementByteLength: 1 }
  throw new TypeError(`${what} must be an ArrayBuffer or a view of one.`)
}

/** Whether the memory has been transferred away. Node 20 has no `ArrayBuffer.prototype.detached`. */
function isDetached(buffer: ArrayBufferLike): boolean {
  if (buffer.byteLength > 0) return false
  try {
    new Uint8Array(buffer)
    return false
  } catch {
    return true
  }
}

/** Also recognizes buffers of other realms. */
function isArrayBuffer(value: unknown): value is ArrayBuffer | SharedArrayBuffer {
  const tag = Object.prototype.toString.call(value)
  return tag === '[object ArrayBuffer]' || tag === '[object SharedArrayBuffer]'
}
