import type { DeviceState } from './device-state.ts'
import { enumerateMembers, requireCreation } from './interfaces.ts'
import { toText } from './webidl.ts'

/** The internal state of an API object. */
export interface ObjectState {
  readonly device: DeviceState
  /** False for an object that an error has made invalid; objects that use it are invalid too. */
  valid: boolean
}

let readState: (object: ApiObject) => ObjectState

/** The base of the objects that a device creates: each has a label, and a state that is hidden from users. */
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

enumerateMembers(ApiObject)

/** Returns the state of an object; throws a TypeError if the argument is not an API object. */
export function stateOf<S extends ObjectState>(object: ApiObject<S>): S {
  return readState(object) as S
}

/** `GPUBuffer "weights"`. */
export function named(object: ApiObject): string {
  const { label } = object
  const { name } = object.constructor
  return label === '' ? `${name} (no label)` : `${name} "${label}"`
}

/** Returns why an object cannot be used with `device`, or undefined if it can. */
export function unusable(object: ApiObject, device: DeviceState): string | undefined {
  const state = readState(object)
  if (state.device !== device) return `${named(object)} belongs to another device.`
  return state.valid ? undefined : `${named(object)} is invalid.`
}
