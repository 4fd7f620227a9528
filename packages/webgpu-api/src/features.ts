import type { DeviceFeature } from '@tandem-gpu/core'
import { nameInterface, requireCreation } from './interfaces.ts'
import { requireArguments } from './webidl.ts'

/** The feature names of the specification. */
export const featureNames = [
  'core-features-and-limits',
  'depth-clip-control',
  'depth32float-stencil8',
  'texture-compression-bc',
  'texture-compression-bc-sliced-3d',
  'texture-compression-etc2',
  'texture-compression-astc',
  'texture-compression-astc-sliced-3d',
  'timestamp-query',
  'indirect-first-instance',
  'shader-f16',
  'rg11b10ufloat-renderable',
  'bgra8unorm-storage',
  'float32-filterable',
  'float32-blendable',
  'clip-distances',
  'dual-source-blending',
  'subgroups',
  'texture-formats-tier1',
  'texture-formats-tier2',
  'primitive-index',
  'texture-component-swizzle',
] as const
export type FeatureName = (typeof featureNames)[number]

/** The WebGPU features that a device of the group supports. */
export function featuresOf(features: ReadonlySet<DeviceFeature>): FeatureName[] {
  const found: FeatureName[] = ['core-features-and-limits']
  if (features.has('timestamps')) found.push('timestamp-query')
  if (features.has('shader-f16')) found.push('shader-f16')
  if (features.has('subgroups')) found.push('subgroups')
  return found
}

/** The extensions of WGSL that need a feature. */
export const featureOfExtension: Readonly<Record<string, string>> = {
  f16: 'shader-f16',
  subgroups: 'subgroups',
  clip_distances: 'clip-distances',
  dual_source_blending: 'dual-source-blending',
  primitive_index: 'primitive-index',
  chromium_experimental_subgroup_matrix: 'chromium-experimental-subgroup-matrix',
  subgroup_size_control: 'subgroup-size-control',
  atomic_vec2u_min_max: 'atomic-vec2u-min-max',
}

/** `readonly setlike<DOMString>`. */
abstract class ReadonlySetlike {
  readonly #values: ReadonlySet<string>

  constructor(token: unknown, values: Iterable<string>) {
    requireCreation(token)
    this.#values = new Set(values)
  }

  get size(): number {
    return this.#values.size
  }

  has(...given: [value: string]): boolean {
    requireArguments(given.length, 1, 'has')
    return this.#values.has(`${given[0]}`)
  }

  forEach(callback: (value: string, key: string, set: this) => void, thisArgument?: unknown): void {
    if (typeof callback !== 'function') throw new TypeError('The callback of forEach is not a function.')
    for (const value of this.#values) callback.call(thisArgument, value, value, this)
  }

  entries(): IterableIterator<[string, string]> {
    return this.#values.entries()
  }

  keys(): IterableIterator<string> {
    return this.#values.keys()
  }

  values(): IterableIterator<string> {
    return this.#values.values()
  }

  [Symbol.iterator](): IterableIterator<string> {
    return this.#values.values()
  }
}

// Web IDL gives one function three names.
const { values } = Object.getOwnPropertyDescriptors(ReadonlySetlike.prototype)
Object.defineProperty(ReadonlySetlike.prototype, 'keys', values)
Object.defineProperty(ReadonlySetlike.prototype, Symbol.iterator, values)

export class GPUSupportedFeatures extends ReadonlySetlike {}
export class WGSLLanguageFeatures extends ReadonlySetlike {}

nameInterface(GPUSupportedFeatures)
nameInterface(WGSLLanguageFeatures)
