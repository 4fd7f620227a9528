import { nameInterface } from './interfaces.ts'
import { member, requireArguments, required, toDictionary, toEnum, toText } from './webidl.ts'

/** An error that an error scope or an `uncapturederror` event reports. */
export class GPUError {
  readonly #message: string

  constructor(...given: [message: string]) {
    if (new.target === GPUError) throw new TypeError('Illegal constructor')
    requireArguments(given.length, 1, new.target.name)
    this.#message = toText(given[0])
  }

  get message(): string {
    return this.#message
  }
}

export class GPUValidationError extends GPUError {}
export class GPUOutOfMemoryError extends GPUError {}
export class GPUInternalError extends GPUError {}

/** The error that `createComputePipelineAsync` rejects with. */
export class GPUPipelineError extends DOMException {
  readonly #reason: 'validation' | 'internal'

  constructor(message = '', options?: { readonly reason: 'validation' | 'internal' }) {
    super(toText(message), 'GPUPipelineError')
    const init = toDictionary(options, 'The options of a GPUPipelineError')
    this.#reason = toEnum(
      required(init, 'reason', 'the options'),
      ['validation', 'internal'] as const,
      'reason',
    )
  }

  get reason(): 'validation' | 'internal' {
    return this.#reason
  }
}

export interface UncapturedErrorInit {
  readonly error: GPUError
  readonly bubbles?: boolean
  readonly cancelable?: boolean
  readonly composed?: boolean
}

/** The event that a device dispatches for an error that no scope catches. */
export class GPUUncapturedErrorEvent extends Event {
  readonly #error: GPUError

  constructor(type: string, init: UncapturedErrorInit) {
    const dictionary = toDictionary(init, 'The init of a GPUUncapturedErrorEvent')
    const flag = (name: string) => member(dictionary, name, false, Boolean)
    super(type, { bubbles: flag('bubbles'), cancelable: flag('cancelable'), composed: flag('composed') })
    const error = required(dictionary, 'error', 'the init of a GPUUncapturedErrorEvent')
    if (!(error instanceof GPUError))
      throw new TypeError('The error of a GPUUncapturedErrorEvent is not a GPUError.')
    this.#error = error
  }

  get error(): GPUError {
    return this.#error
  }
}

export const errorFilters = ['validation', 'out-of-memory', 'internal'] as const
export type ErrorFilter = (typeof errorFilters)[number]

const errorClasses = {
  validation: GPUValidationError,
  'out-of-memory': GPUOutOfMemoryError,
  internal: GPUInternalError,
} as const

export function makeError(filter: ErrorFilter, message: string): GPUError {
  return new errorClasses[filter](message)
}

for (const type of [
  GPUError,
  GPUValidationError,
  GPUOutOfMemoryError,
  GPUInternalError,
  GPUPipelineError,
  GPUUncapturedErrorEvent,
])
  nameInterface(type)
