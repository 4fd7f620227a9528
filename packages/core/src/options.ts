import { describedValue, isObject } from './described-value.ts'
import { type GpuError, invalid } from './errors.ts'

/**
 * The required type of an option. A list contains the allowed values; for `any`, the code that uses the value
 * checks it.
 */
export type OptionType =
  | 'string'
  | 'number'
  | 'boolean'
  | 'function'
  | 'object'
  | 'any'
  | readonly (string | boolean)[]
  | { readonly wanted: string; fits(value: unknown): boolean }

const wanted = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  function: 'a function',
  object: 'an object',
} as const

/**
 * Throws `validation` unless `options` is an object whose members are named in `types` and have those types,
 * and which has all members in `required`. A member that is undefined counts as absent. `of` is the function
 * or object that accepts the options, as in "The option label of openGroup".
 */
export function requireOptions(
  options: unknown,
  of: string,
  types: Readonly<Record<string, OptionType>>,
  required: readonly string[] = [],
): asserts options is object {
  if (typeof of !== 'string' || !isObject(types))
    throw invalid(
      `The name of what has the options is ${describedValue(of)}, and the types of the options are ${describedValue(types)}; they must be a string and an object.`,
    )
  if (!isObject(options) || Array.isArray(options) || options instanceof Promise)
    throw invalid(`The options of ${of} are ${describedValue(options)}; they must be an object.`)
  const given = options as Readonly<Record<string, unknown>>
  for (const name in given) {
    if (!Object.hasOwn(types, name)) throw unknownOption(name, of, Object.keys(types))
    const { wanted, fits } = ruleOf(name, types[name]!)
    const value = given[name]
    if (value !== undefined && !fits(value))
      throw invalid(`The option ${name} of ${of} is ${describedValue(value)}; it must be ${wanted}.`)
  }
  for (const name of required)
    if (given[name] === undefined) throw invalid(`The option ${name} of ${of} is missing.`)
}

function ruleOf(name: string, type: OptionType): { wanted: string; fits(value: unknown): boolean } {
  if (type === 'any') return { wanted: 'anything', fits: () => true }
  if (typeof type === 'string')
    return { wanted: wanted[type], fits: (value) => typeof value === type && value !== null }
  if (Array.isArray(type)) {
    const names = type.map((one) => (typeof one === 'string' ? `'${one}'` : String(one)))
    return { wanted: `one of ${names.join(', ')}`, fits: (value) => type.includes(value) }
  }
  if (isObject(type) && 'fits' in type) return type
  throw invalid(
    `The type of option ${name} is ${describedValue(type)}; it must be a name, a list of values or a rule.`,
  )
}

function unknownOption(name: string, of: string, known: readonly string[]): GpuError {
  const lower = name.toLowerCase()
  const near = known.find((one) => {
    const other = one.toLowerCase()
    return other.startsWith(lower) || lower.startsWith(other)
  })
  const help = near === undefined ? `its options are ${known.join(', ')}.` : `the closest option is ${near}.`
  return invalid(`There is no option ${name} of ${of}; ${help}`)
}
