import { describedValue, isObject } from './described-value.ts'
import { type GpuError, invalid } from './errors.ts'

/** What an option must be; a list names the values that it may have, `any` is checked where the value is used. */
export type OptionType = 'string' | 'number' | 'boolean' | 'function' | 'object' | 'any' | readonly string[]

const wanted = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  function: 'a function',
  object: 'an object',
} as const

/**
 * Throws `validation` unless `options` is an object whose members are named in `types` and have those types; undefined is as good as absent.
 * `of` names what takes the options, as in "The option label of openGroup".
 */
export function requireOptions(
  options: unknown,
  of: string,
  types: Readonly<Record<string, OptionType>>,
): asserts options is object {
  if (typeof of !== 'string' || !isObject(types))
    throw invalid(
      `The name of what has the options is ${describedValue(of)}, and the types of the options are ${describedValue(types)}; they must be a string and an object.`,
    )
  if (!isObject(options) || Array.isArray(options) || options instanceof Promise)
    throw invalid(`The options of ${of} are ${describedValue(options)}; they must be an object.`)
  for (const name in options) {
    const value = (options as Readonly<Record<string, unknown>>)[name]
    if (!Object.hasOwn(types, name)) throw unknownOption(name, of, Object.keys(types))
    const type = types[name]!
    if (value === undefined || type === 'any') continue
    if (typeof type !== 'string' && !Array.isArray(type))
      throw invalid(
        `The type of option ${name} is ${describedValue(type)}; it must be a name or a list of values.`,
      )
    const fits =
      typeof type === 'string'
        ? typeof value === type && value !== null
        : typeof value === 'string' && type.includes(value)
    if (fits) continue
    const list = typeof type === 'string' ? '' : type.map((one) => `'${String(one)}'`).join(', ')
    throw invalid(
      `The option ${name} of ${of} is ${describedValue(value)}; it must be ${typeof type === 'string' ? wanted[type] : `one of ${list}`}.`,
    )
  }
}

function unknownOption(name: string, of: string, known: readonly string[]): GpuError {
  const lower = name.toLowerCase()
  const near = known.find((one) => {
    const other = one.toLowerCase()
    return other.startsWith(lower) || lower.startsWith(other)
  })
  const help = near === undefined ? `its options are ${known.join(', ')}.` : `did you mean ${near}?`
  return invalid(`There is no option ${name} of ${of}; ${help}`)
}
