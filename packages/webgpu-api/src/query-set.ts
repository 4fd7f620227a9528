import { ApiObject, type ObjectState } from './api-object.ts'
import type { Channel } from './channel.ts'
import type { DeviceState } from './device-state.ts'
import { creation, nameInterface } from './interfaces.ts'
import { labelOf, required, toDictionary, toEnum, toU32 } from './webidl.ts'

const types = ['occlusion', 'timestamp'] as const
type QueryType = (typeof types)[number]

/** The maximum that the specification allows. */
const mostQueries = 4096

export interface QuerySetState extends ObjectState {
  readonly type: QueryType
  readonly count: number
  /** The number of the buffer that holds a u64 per query. */
  readonly number: number
  destroyed: boolean
}

const collected = new FinalizationRegistry<{ readonly channel: Channel; readonly number: number }>(
  ({ channel, number }) => channel.commands.destroyBuffer(number),
)

export class GPUQuerySet extends ApiObject<QuerySetState> {
  readonly #own: QuerySetState

  constructor(token: unknown, state: QuerySetState, label: string) {
    super(token, state, label)
    this.#own = state
  }

  get type(): QueryType {
    return this.#own.type
  }

  get count(): number {
    return this.#own.count
  }

  destroy(): undefined {
    const state = this.#own
    if (state.destroyed) return undefined
    state.destroyed = true
    if (state.number === 0) return undefined
    collected.unregister(state)
    const { channel } = state.device
    channel.flush()
    channel.commands.destroyBuffer(state.number)
    return undefined
  }
}
nameInterface(GPUQuerySet)

export function createQuerySet(device: DeviceState, given: unknown): GPUQuerySet {
  const what = 'the descriptor of createQuerySet'
  const descriptor = toDictionary(given, what)
  const label = labelOf(descriptor)
  const count = toU32(required(descriptor, 'count', what), 'count')
  const type = toEnum(required(descriptor, 'type', what), types, 'type')
  if (type === 'timestamp' && !device.features.has('timestamp-query'))
    throw new TypeError(
      "A query set of timestamps needs the feature 'timestamp-query', which the device does not have.",
    )
  const valid = count <= mostQueries
  if (!valid) device.invalid(`createQuerySet: ${count} queries exceed the limit of ${mostQueries}.`)
  const exists = valid && !device.isLost
  const number = exists ? device.channel.number() : 0
  const state: QuerySetState = { device, valid, type, count, number, destroyed: false }
  const querySet = new GPUQuerySet(creation, state, label)
  if (exists) {
    device.channel.commands.createBuffer(number, Math.max(8, count * 8), 'device')
    device.expectMemory(number, state)
    collected.register(querySet, { channel: device.channel, number }, state)
  }
  return querySet
}
