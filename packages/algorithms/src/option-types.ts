import {
  type DeviceGroup,
  describedValue,
  GpuError,
  isObject,
  type OptionType,
  requireCount,
  requireOptions,
} from '@tandem-gpu/core'

/** How each option of an interface is checked. */
export type OptionTypesOf<O> = Readonly<Record<keyof O, OptionType>>

/** A typed array, host memory, or a function that moves elements. */
export const elementsOption = {
  wanted: 'a typed array or a function',
  fits: (value: unknown) =>
    typeof value === 'function' ||
    (isObject(value) &&
      typeof (value as { length?: unknown }).length === 'number' &&
      (ArrayBuffer.isView(value) || 'array' in value)),
}

/** Options of algorithms whose input is a vector. */
export const vectorOptions = { elements: 'number', type: 'string', input: elementsOption } as const

/** The number of devices that a product uses, and the rates from which it is chosen. */
export const devicesOptions = {
  devices: {
    wanted: "a number or 'auto'",
    fits: (value: unknown) => typeof value === 'number' || value === 'auto',
  },
  model: {
    wanted: "'measure' or an object of rates",
    fits: (value: unknown) => value === 'measure' || (isObject(value) && 'flopsPerSecond' in value),
  },
}

/** Options that every algorithm has. */
const common: Readonly<Record<string, OptionType>> = {
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
  signal: { wanted: 'an AbortSignal', fits: (value) => value instanceof AbortSignal },
  tuning: {
    wanted: 'a store with get and set, or false',
    fits: (value) => value === false || (isObject(value) && 'get' in value && 'set' in value),
  },
}

/**
 * Throws `validation` if `group` is not a group or if the options of the algorithm `of` are wrong, as
 * `requireOptions` of core does. Returns the options, with the caller's functions for elements wrapped so
 * that they react to the caller's signal.
 */
export function requireArguments<O extends object>(
  group: DeviceGroup,
  of: string,
  options: O,
  types: Readonly<Record<string, OptionType>>,
  required: readonly string[],
): O {
  requireGroup(group)
  const known = { ...types, ...common }
  requireOptions(options, of, known, required)
  requireCounts(options)
  const given = options as Readonly<Record<string, unknown>>
  const { signal } = given
  if (!(signal instanceof AbortSignal)) return options
  const heeding: Record<string, unknown> = { ...given }
  for (const [name, type] of Object.entries(types)) {
    const value = given[name]
    if (type === elementsOption && typeof value === 'function')
      heeding[name] = interruptible(value as (...args: unknown[]) => unknown, signal, `The option ${name}`)
  }
  return heeding as O
}

/** Throws `unsupported` unless elements are of a type that kernels of all devices support. */
export function requireNumbers(what: string, type: string): void {
  if (!['f32', 'i32', 'u32'].includes(type))
    throw new GpuError('unsupported', `${what} of f32, i32 or u32, not ${type}.`)
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
export function requireCommonOptions(options: object, of: string): void {
  const given = isObject(options) ? Object.entries(options) : undefined
  requireOptions(given ? Object.fromEntries(given.filter(([name]) => name in common)) : options, of, common)
  requireCounts(options)
}

function requireCounts(options: object): void {
  const given = options as Readonly<Record<string, number | undefined>>
  for (const name of ['warmup', 'samples', 'repetitions'])
    if (given[name] !== undefined) requireCount(given[name], `The option ${name}`)
}

/**
 * Wraps the caller's function, which may never settle: once the signal fires, a call rejects with `aborted`.
 * `what` names it.
 */
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
