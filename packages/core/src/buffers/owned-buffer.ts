import { describedValue } from '../described-value.ts'
import type { GroupState } from '../group/group-state.ts'
import { type Leak, Resource } from '../group/resource.ts'
import { bufferByteLength, type ElementType, elementByteLength } from './element-type.ts'
import { blockRegion, type Region, RegionView, reshapeRegion, sliceRegion, type View } from './view.ts'

/**
 * The base of device and host buffers: each has an element type, and is itself the view of all its elements.
 */
export abstract class OwnedBuffer<T extends ElementType = ElementType> extends Resource implements Region {
  readonly #kind: 'buffer' | 'host-buffer'
  readonly group: GroupState
  readonly type: T
  readonly label: string
  /** The name in messages. */
  readonly name: string
  /** The rank that has the memory; undefined if every rank has a copy. */
  readonly rank: number | undefined
  /** Whether this rank has the memory. */
  readonly local: boolean
  readonly elementByteLength: number
  readonly byteLength: number
  readonly offset = 0
  readonly rows: number
  readonly columns: number
  readonly stride: number
  readonly length: number

  constructor(
    group: GroupState,
    registry: Set<Resource> | undefined,
    kind: 'buffer' | 'host-buffer',
    rank: number | undefined,
    type: T,
    region: Region,
    label: string,
  ) {
    super(registry)
    this.#kind = kind
    this.group = group
    this.type = type
    this.label = label
    this.name = kind === 'buffer' ? `buffer "${label}"` : `host buffer "${label}"`
    this.rank = rank
    this.local = rank === undefined || rank === group.rank
    this.elementByteLength = elementByteLength[type]
    this.byteLength = bufferByteLength(type, region.length)
    this.rows = region.rows
    this.columns = region.columns
    this.stride = region.stride
    this.length = region.length
  }

  get buffer(): this {
    return this
  }

  override leak(): Leak {
    return { kind: this.#kind, label: this.label, byteLength: this.byteLength }
  }

  slice(offset: number, length: number): View<this> {
    return new RegionView(this, sliceRegion(this, offset, length, this.name))
  }

  block(row: number, column: number, rows: number, columns: number): View<this> {
    return new RegionView(this, blockRegion(this, row, column, rows, columns, this.name))
  }

  reshape(rows: number, columns: number, stride?: number): View<this> {
    return new RegionView(this, reshapeRegion(this, rows, columns, stride, this.name))
  }
}

/** The message for a value that is not a view of a buffer on that side. */
export function notAView(what: string, side: 'device' | 'host', given: unknown): string {
  const buffer = bufferOf(given)
  const it = buffer === undefined ? describedValue(given) : `a view of ${buffer.name}`
  return `${what} is not a view of a ${side} buffer; it is ${it}.`
}

/** The buffer of a view that core made; undefined for anything else. */
export function bufferOf(view: unknown): OwnedBuffer | undefined {
  return view instanceof RegionView || view instanceof OwnedBuffer ? view.buffer : undefined
}
