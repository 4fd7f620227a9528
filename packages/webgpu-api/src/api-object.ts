import type { DeviceState } from './device-state.ts'
import { requireCreation } from './interfaces.ts'
import { toText } from './webidl.ts'

/** The internal state of an API object. */
export interface ObjectState {
  readonly device: DeviceState
  /** False for an object that an error has made invalid; objects that use it are invalid too. */
  valid: boolean
}

/** The class of an API interface. */
export type Interface<O> = abstract new (...args: never[]) => O

/*
 * Methods read the state of their own object from a private field of their class, which throws a TypeError
 * for objects of others; functions read that of any object with `stateOf`.
 */

let readState: (object: ApiObject) => ObjectState
let readType: (object: object) => unknown

/** The base of the objects that a device creates: each has a label, and a state that is hidden from users. */
export abstract class ApiObject<S extends ObjectState = ObjectState> {
  readonly #state: S
  /** The class that made the object; users can change its prototype. */
  readonly #type: unknown
  #label: string

  static {
    readState = (object) => object.#state
    readType = (object) => (#type in object ? object.#type : undefined)
  }

  constructor(token: unknown, state: S, label: string) {
    requireCreation(token)
    this.#state = state
    this.#type = new.target
    this.#label = label
  }

  get label(): string {
    return this.#label
  }

  set label(label: string) {
    this.#label = toText(label)
  }
}

/** The interface of an API object; undefined for other values. */
export function interfaceOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? readType(value) : undefined
}

/** Whether a value is an object of an interface. */
export function isObject<O>(value: unknown, type: Interface<O>): value is O {
  return interfaceOf(value) === type
}

/** Converts an argument to an object of an interface. */
export function toObject<O>(value: unknown, type: Interface<O>, what: string): O {
  if (!isObject(value, type)) throw new TypeError(`${what} is not a ${type.name}.`)
  return value
}

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
