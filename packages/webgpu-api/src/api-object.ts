import type { DeviceState } from './device-state.ts'
import { requireCreation } from './interfaces.ts'
import { toText } from './webidl.ts'

/** What the package knows of an object of the API. */
export interface ObjectState {
  readonly device: DeviceState
  /** False for an object that an error has made invalid: what uses it is invalid too. */
  valid: boolean
}

let readState: (object: ApiObject) => ObjectState

/** The base of the objects that a device makes: each has a label, and a state that users cannot reach. */
export abstract class ApiObject<S extends ObjectState = ObjectState> {
  readonly #state: S
  #label: string

  static {
    readState = (object) => object.#state
  }

  constructor(token: unknown, state: S, label: string) {
    requireCreation(token)
    this.#state = state
    this.#label = label
  }

  get label(): string {
    return this.#label
  }

  set label(label: string) {
    this.#label = toText(label)
  }
}

/** The state of an object; throws a TypeError for what is none. */
export function stateOf<S extends ObjectState>(object: ApiObject<S>): S {
  return readState(object) as S
}

/** `GPUBuffer "weights"`. */
export function named(object: ApiObject): string {
  const { label } = object
  const { name } = object.constructor
  return label === '' ? `${name} (no label)` : `${name} "${label}"`
}

/** Why an object cannot be used with `device`; undefined where it can. */
export function unusable(object: ApiObject, device: DeviceState): string | undefined {
  const state = readState(object)
  if (state.device !== device) return `${named(object)} belongs to another device.`
  return state.valid ? undefined : `${named(object)} is invalid.`
}
