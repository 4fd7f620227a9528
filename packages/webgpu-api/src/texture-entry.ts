import { GPUShaderStage } from './constants.ts'
import { type Dictionary, member, required, toDictionary, toEnum } from './webidl.ts'

/**
 * The part of a bind group layout entry that describes a texture or a sampler. Layouts may contain such
 * entries, though nothing can be bound to them.
 */
export interface TextureEntry {
  readonly kind: 'sampler' | 'texture' | 'storageTexture' | 'externalTexture'
  /** Equal for equal entries. */
  readonly key: string
  readonly sampleType?: string
  readonly multisampled?: boolean
  readonly viewDimension?: string
  readonly access?: string
  readonly format?: string
}

const samplerTypes = ['filtering', 'non-filtering', 'comparison'] as const
const sampleTypes = ['float', 'unfilterable-float', 'depth', 'sint', 'uint'] as const
const dimensions = ['1d', '2d', '2d-array', 'cube', 'cube-array', '3d'] as const
const accesses = ['write-only', 'read-only', 'read-write'] as const

/** Formats of storage textures; true means that the format also supports `read-write` access. */
const storageFormats: Readonly<Record<string, boolean>> = {
  rgba8unorm: false,
  rgba8snorm: false,
  rgba8uint: false,
  rgba8sint: false,
  rgba16uint: false,
  rgba16sint: false,
  rgba16float: false,
  r32uint: true,
  r32sint: true,
  r32float: true,
  rg32uint: false,
  rg32sint: false,
  rg32float: false,
  rgba32uint: false,
  rgba32sint: false,
  rgba32float: false,
}
const sampledFormats = [
  ...['r8unorm', 'r8snorm', 'r8uint', 'r8sint', 'r16unorm', 'r16snorm', 'r16uint', 'r16sint', 'r16float'],
  ...[
    'rg8unorm',
    'rg8snorm',
    'rg8uint',
    'rg8sint',
    'rg16unorm',
    'rg16snorm',
    'rg16uint',
    'rg16sint',
    'rg16float',
  ],
  ...['rgba8unorm-srgb', 'bgra8unorm', 'bgra8unorm-srgb', 'rgba16unorm', 'rgba16snorm', 'rgb9e5ufloat'],
  ...['rgb10a2uint', 'rgb10a2unorm', 'rg11b10ufloat', 'stencil8', 'depth16unorm', 'depth24plus'],
  ...['depth24plus-stencil8', 'depth32float', 'depth32float-stencil8'],
  ...['bc1-rgba-unorm', 'bc1-rgba-unorm-srgb', 'bc2-rgba-unorm', 'bc2-rgba-unorm-srgb', 'bc3-rgba-unorm'],
  ...['bc3-rgba-unorm-srgb', 'bc4-r-unorm', 'bc4-r-snorm', 'bc5-rg-unorm', 'bc5-rg-snorm', 'bc6h-rgb-ufloat'],
  ...['bc6h-rgb-float', 'bc7-rgba-unorm', 'bc7-rgba-unorm-srgb', 'etc2-rgb8unorm', 'etc2-rgb8unorm-srgb'],
  ...['etc2-rgb8a1unorm', 'etc2-rgb8a1unorm-srgb', 'etc2-rgba8unorm', 'etc2-rgba8unorm-srgb', 'eac-r11unorm'],
  ...['eac-r11snorm', 'eac-rg11unorm', 'eac-rg11snorm'],
]
const astcBlocks = [
  '4x4',
  '5x4',
  '5x5',
  '6x5',
  '6x6',
  '8x5',
  '8x6',
  '8x8',
  '10x5',
  '10x6',
  '10x8',
  '10x10',
  '12x10',
  '12x12',
]
const formats = [
  ...Object.keys(storageFormats),
  ...sampledFormats,
  ...astcBlocks.flatMap((block) => [`astc-${block}-unorm`, `astc-${block}-unorm-srgb`]),
]

/** The features that formats need. */
const featuresOfFormats: readonly (readonly [formats: RegExp, feature: string])[] = [
  [/^depth32float-stencil8$/, 'depth32float-stencil8'],
  [/^bc\d/, 'texture-compression-bc'],
  [/^(etc2|eac)-/, 'texture-compression-etc2'],
  [/^astc-/, 'texture-compression-astc'],
  [/^(r|rg|rgba)16[us]norm$/, 'texture-formats-tier1'],
]

/**
 * Converts the members of an entry other than `buffer`, and counts them. Throws a TypeError for a format that
 * needs a feature which is not in `features`.
 */
export function toTextureEntry(
  entry: Dictionary,
  features: ReadonlySet<string>,
): { texture: TextureEntry | undefined; kinds: number } {
  const found: TextureEntry[] = []
  const present = (name: TextureEntry['kind'], convert: (given: Dictionary) => TextureEntry) =>
    member<undefined>(entry, name, undefined, (value) => {
      found.push(convert(toDictionary(value, name)))
      return undefined
    })
  present('externalTexture', () => ({ kind: 'externalTexture', key: 'external' }))
  present('sampler', (given) => ({ kind: 'sampler', key: choice(given, 'type', samplerTypes, 'filtering') }))
  present('storageTexture', (given) => {
    const access = choice(given, 'access', accesses, 'write-only')
    const format = toEnum(required(given, 'format', 'storageTexture'), formats, 'format')
    const needed = featuresOfFormats.find(([pattern]) => pattern.test(format))?.[1]
    if (needed !== undefined && !features.has(needed))
      throw new TypeError(
        `The format ${format} needs the feature '${needed}', which the device does not have.`,
      )
    const viewDimension = choice(given, 'viewDimension', dimensions, '2d')
    const key = `${access} ${format} ${viewDimension}`
    return { kind: 'storageTexture', key, access, format, viewDimension }
  })
  present('texture', (given) => {
    const multisampled = member(given, 'multisampled', false, Boolean)
    const sampleType = choice(given, 'sampleType', sampleTypes, 'float')
    const viewDimension = choice(given, 'viewDimension', dimensions, '2d')
    const key = `${sampleType} ${viewDimension} ${multisampled}`
    return { kind: 'texture', key, sampleType, multisampled, viewDimension }
  })
  return { texture: found[0], kinds: found.length }
}

function choice<E extends string>(given: Dictionary, name: string, values: readonly E[], fallback: E): E {
  return member(given, name, fallback, (value) => toEnum(value, values, name))
}

/** Returns what is wrong with an entry, as the end of a sentence, or undefined if it is valid. */
export function textureEntryProblem(
  { kind, sampleType, multisampled, viewDimension, access, format }: TextureEntry,
  visibility: number,
  features: ReadonlySet<string>,
): string | undefined {
  if (kind === 'texture' && multisampled) {
    if (viewDimension !== '2d')
      return `has a multisampled texture of dimension ${viewDimension}; it must be 2d.`
    if (sampleType === 'float')
      return "has a multisampled texture with sampleType 'float', which can be filtered."
  }
  if (kind !== 'storageTexture') return undefined
  if (viewDimension === 'cube' || viewDimension === 'cube-array')
    return 'has a storage texture of dimension cube or cube-array.'
  if (access !== 'read-only' && (visibility & GPUShaderStage.VERTEX) !== 0)
    return 'has a storage texture that vertex shaders could write.'
  const isReadWrite = storageFormats[format!]
  const isStorage =
    isReadWrite !== undefined || (format === 'bgra8unorm' && features.has('bgra8unorm-storage'))
  if (!isStorage) return `has a storage texture of format ${format}, which storage textures do not support.`
  if (access === 'read-write' && isReadWrite !== true)
    return `has a storage texture of format ${format}, which does not support read-write access.`
  return undefined
}
