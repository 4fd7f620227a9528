import { type DeviceGroup, describedValue, GpuError, requireCount } from '@tandem-gpu/core'

/** The type that an option must have, checked for callers from JavaScript; ranges are checked where the values are used. */
export type OptionType =
  | 'number'
  | 'string'
  | 'boolean'
  | 'function'
  | 'elements'
  | 'number or auto'
  | 'model'
  | 'any'

const kinds: Readonly<Record<Exclude<OptionType, 'any'>, string>> = {
  number: 'a number',
  string: 'a name',
  'number or auto': "a number or 'auto'",
  model: "'measure' or an object of rates",
  boolean: 'true or false',
  function: 'a function',
  elements: 'a typed array or a function',
}

/** Options that every algorithm has. */
const common: Readonly<Record<string, OptionType | readonly unknown[]>> = {
  schedule: ['overlapped', 'serial'],
  verify: 'boolean',
  compareSchedules: 'boolean',
  warmup: 'number',
  samples: 'number',
  repetitions: 'number',
  seed: 'number',
  trace: 'function',
  onProgram: 'function',
  onRun: 'function',
  // Checked below.
  signal: 'any',
  tuning: 'any',
}

/**
 * Throws `validation` where `group` is not a group, and for an option that does not exist or has a wrong type. A list names the values that an
 * option may have. Returns the options, in which the caller's functions for elements heed the caller's signal.
 */
export function requireArguments<O extends object>(
  group: DeviceGroup,
  options: O,
  types: Readonly<Record<string, OptionType | readonly unknown[]>>,
  required: readonly string[],
): O {
  requireGroup(group)
  const given = requireObject(options)
  const known = { ...types, ...common }
  for (const name of Object.keys(given))
    if (!Object.hasOwn(known, name))
      throw new GpuError(
        'validation',
        `There is no option ${name}; the options are ${Object.keys(known).join(', ')}.`,
      )
  for (const name of required)
    if (given[name] === undefined) throw new GpuError('validation', `The option ${name} is missing.`)
  requireTypes(given, types)
  requireCommonOptions(given)
  const { signal } = given
  if (!(signal instanceof AbortSignal)) return options
  const heeding: Record<string, unknown> = { ...given }
  for (const [name, type] of Object.entries(types)) {
    const value = given[name]
    if (type === 'elements' && typeof value === 'function')
      heeding[name] = interruptible(value as (...args: unknown[]) => unknown, signal, `The option ${name}`)
  }
  return heeding as O
}

/** Throws `validation` if the value is not a group. */
export function requireGroup(group: unknown): void {
  if (!isObject(group) || !('queue' in group) || !('devices' in group))
    throw new GpuError(
      'validation',
      `The group is ${describedValue(group)}; it must be a group that openGroup returned.`,
    )
}

/** Throws `validation` if an option that every algorithm has is wrong; ignores other options. */
export function requireCommonOptions(options: object): void {
  const given = requireObject(options)
  requireTypes(given, common)
  const { signal, tuning } = given
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new GpuError(
      'validation',
      `The option signal is ${describedValue(signal)}; it must be an AbortSignal.`,
    )
  if (tuning !== undefined && tuning !== false && !(isObject(tuning) && 'get' in tuning && 'set' in tuning))
    throw new GpuError(
      'validation',
      `The option tuning is ${describedValue(tuning)}; it must be a store with get and set, or false.`,
    )
  for (const name of ['warmup', 'samples', 'repetitions'])
    if (given[name] !== undefined) requireCount(given[name] as number, `The option ${name}`)
}

/** Throws `validation` if the options are not an object. */
export function requireObject(options: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(options))
    throw new GpuError('validation', `The options are ${describedValue(options)}; they must be an object.`)
  return options as Readonly<Record<string, unknown>>
}

function requireTypes(
  given: Readonly<Record<string, unknown>>,
  types: Readonly<Record<string, OptionType | readonly unknown[]>>,
): void {
  for (const [name, type] of Object.entries(types)) {
    const value = given[name]
    if (value === undefined || type === 'any' || fits(value, type)) continue
    const wanted =
      typeof type === 'string'
        ? kinds[type as Exclude<OptionType, 'any'>]
        : `one of ${type.map(quoted).join(', ')}`
    throw new GpuError('validation', `The option ${name} is ${describedValue(value)}; it must be ${wanted}.`)
  }
}

/** The caller's function, which may never settle: once the signal fires, a call rejects with `aborted`. `what` names it. */
function interruptible<A extends unknown[]>(
  callback: (...args: A) => unknown,
  signal: AbortSignal,
  what: string,
): (...args: A) => Promise<unknown> {
  const error = () =>
    new GpuError('aborted', `${what} stopped moving elements: the run was aborted.`, { cause: signal.reason })
  return async (...args) => {
    if (signal.aborted) throw error()
    let abort!: () => void
    const aborted = new Promise<never>((_, reject) => {
      abort = () => reject(error())
    })
    signal.addEventListener('abort', abort)
    try {
      return await Promise.race([callback(...args), aborted])
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }
}

function fits(value: unknown, type: OptionType | readonly unknown[]): boolean {
  if (typeof type !== 'string') return type.includes(value)
  if (type === 'number or auto') return typeof value === 'number' || value === 'auto'
  if (type === 'model') return value === 'measure' || (isObject(value) && 'flopsPerSecond' in value)
  if (type !== 'elements') return typeof value === type
  return (
    typeof value === 'function' ||
    (isObject(value) &&
      typeof (value as { length?: unknown }).length === 'number' &&
      (ArrayBuffer.isView(value) || 'array' in value))
  )
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

const quoted = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value))
