import {
  type CompileOptions,
  type DeviceGroup,
  GpuError,
  type Kernel,
  OwnedResources,
  requireOptions,
} from '@tandem-gpu/core'
import { compileTerminating } from '../compile-terminating.ts'
import { characterOf } from '../device-character.ts'
import { requireGroup } from '../option-types.ts'
import { hasSubgroupsOf32, requireSubgroupsOf32 } from '../subgroup-size.ts'
import countSerialWgsl from './count-serial.part.wgsl.ts'
import countWorkgroupWgsl from './count-workgroup.part.wgsl.ts'
import digitBitsWgsl from './digit-bits.part.wgsl.ts'
import digitBucketsWgsl from './digit-buckets.part.wgsl.ts'
import { compileExchange, type ExchangeKernels, exchangeSources } from './exchange-kernels.ts'
import scatterBindingsWgsl from './scatter-bindings.part.wgsl.ts'
import scatterSerialWgsl from './scatter-serial.part.wgsl.ts'
import scatterSubgroupsWgsl from './scatter-subgroups.part.wgsl.ts'
import scatterWorkgroupWgsl from './scatter-workgroup.part.wgsl.ts'
import {
  keysText,
  type PassKernels,
  type SortedValues,
  type SortForm,
  type SortType,
  type SortVariant,
} from './sort-form.ts'
import startsSerialWgsl from './starts-serial.part.wgsl.ts'
import startsWorkgroupWgsl from './starts-workgroup.part.wgsl.ts'
import valuesGivenWgsl from './values-given.part.wgsl.ts'
import valuesMadeWgsl from './values-made.part.wgsl.ts'
import valuesNoneWgsl from './values-none.part.wgsl.ts'

/** The kernels that `compileSort` compiles. */
export interface SortKernels {
  readonly type: SortType
  readonly values: SortedValues
  readonly valueType: SortType
  readonly form: SortForm
  /** Counts the digits of the keys of each range. */
  readonly count: Kernel
  /** Sums the counts of all earlier ranges, which gives the start of each range. */
  readonly starts: Kernel
  /** Moves the keys and the values. If the values are indices, the first pass generates them. */
  readonly scatter: Kernel
  readonly firstScatter: Kernel
  /** Only for several devices: the pass that orders keys by bucket, and the kernels around it. */
  readonly partition?: Omit<PassKernels, 'form'> | undefined
  readonly exchange?: ExchangeKernels | undefined
  destroy(): void
}

/** Options of `compileSort`. */
export interface CompileSortOptions {
  readonly type: SortType
  /** Default `none`. */
  readonly values?: SortedValues | undefined
  /** The type of given values. Default u32. Indices are always u32. */
  readonly valueType?: SortType | undefined
  /** Default: chosen for the devices. */
  readonly variant?: SortVariant | undefined
}

/**
 * The number of keys that a workgroup moves at a time. Larger tiles produce longer consecutive writes, but a
 * multiprocessor needs 1,024 active invocations. (On an H200, 2^28 keys with values take 12.8 ms with two
 * workgroups of 512 × 16, 14.8 ms with four of 256 × 16, which the compiler reduces to two, and 20.1 ms with
 * one of 512 × 12.) The first form is chosen of which `together` workgroups fit into the devices' workgroup
 * memory.
 */
const subgroupForms: Readonly<Record<'keys' | 'pairs', readonly SortForm[]>> = {
  keys: [
    { variant: 'subgroups', bits: 8, threads: 512, each: 16, together: 2 },
    { variant: 'subgroups', bits: 8, threads: 256, each: 16 },
  ],
  pairs: [
    { variant: 'subgroups', bits: 8, threads: 512, each: 16, together: 2 },
    { variant: 'subgroups', bits: 8, threads: 256, each: 12 },
    { variant: 'subgroups', bits: 8, threads: 256, each: 8 },
  ],
}

const workgroupForm: SortForm = { variant: 'workgroup', bits: 4, threads: 256, each: 8 }
const serialForm: SortForm = { variant: 'serial', bits: 8, threads: 1, each: 4096 }

/**
 * Compiles the kernels that `recordSort` needs. Rejects with `unsupported` if the variant uses subgroups and
 * a device may have subgroups of a size other than 32.
 */
export async function compileSort(group: DeviceGroup, options: CompileSortOptions): Promise<SortKernels> {
  requireGroup(group)
  requireOptions(options, 'compileSort', {
    type: 'string',
    values: 'string',
    valueType: 'string',
    variant: 'string',
  })
  const { type, values = 'none', valueType = 'u32', variant } = options
  for (const wanted of [type, valueType])
    if (!['f32', 'i32', 'u32'].includes(wanted))
      throw new GpuError('unsupported', `A sort needs keys of f32, i32 or u32, not ${wanted}.`)
  if (!['none', 'given', 'indices'].includes(values))
    throw new GpuError(
      'validation',
      `The option values cannot be ${values}; it must be none, given or indices.`,
    )
  if (values === 'indices' && valueType !== 'u32')
    throw new GpuError('validation', `Indices have type u32, not ${valueType}.`)
  if (variant !== undefined && !['subgroups', 'workgroup', 'serial'].includes(variant))
    throw new GpuError(
      'validation',
      `There is no sort variant ${variant}; the variants are subgroups, workgroup and serial.`,
    )
  const form = sortForm(group, variant, values)
  const several = group.devices.length > 1
  const { first, countBuckets, scatterBuckets, ...rest } = kernelSources(type, valueType, values, form)
  const owned = new OwnedResources()
  try {
    const { kernels, destroy } = await compileTerminating(group, {
      ...rest,
      first,
      countBuckets: several ? countBuckets : undefined,
      scatterBuckets: several ? scatterBuckets : undefined,
    })
    owned.keep({ destroy })
    const { count, starts, scatter } = kernels
    const exchange = several
      ? owned.keep(await compileExchange(group, type, valueType, values, form))
      : undefined
    return {
      ...{ type, values, valueType, form, count, starts, scatter },
      firstScatter: kernels.first ?? scatter,
      partition: several
        ? { count: kernels.countBuckets!, starts, scatter: kernels.scatterBuckets! }
        : undefined,
      exchange: exchange?.kernels,
      destroy: () => owned.destroy(),
    }
  } catch (error) {
    owned.destroy()
    throw error
  }
}

function sortForm(group: DeviceGroup, variant: SortVariant | undefined, values: SortedValues): SortForm {
  if (variant === 'subgroups') requireSubgroupsOf32(group)
  const form = subgroupForms[values === 'none' ? 'keys' : 'pairs'].find((one) =>
    group.devices.every(
      ({ limits }) =>
        limits.maxWorkgroupInvocations >= one.threads &&
        limits.maxWorkgroupMemoryByteLength >= (one.together ?? 1) * workgroupBytes(one, values !== 'none'),
    ),
  )
  if (variant === 'subgroups' && form === undefined)
    throw new GpuError(
      'unsupported',
      'The sort by subgroups needs 256 invocations and 28 KB of workgroup memory.',
    )
  if (variant === 'serial' || (variant === undefined && !characterOf(group).fastBarriers)) return serialForm
  if (variant === 'workgroup' || form === undefined || !hasSubgroupsOf32(group)) return workgroupForm
  return form
}

/** The size of the workgroup variables in scatter-subgroups.part.wgsl. */
function workgroupBytes({ threads, each }: SortForm, hasValues: boolean): number {
  const tile = threads * each
  return 4 * ((threads / 32 + threads / 256 + 2) * 256 + 8 + tile + (hasValues ? tile : 1))
}

interface SortSources {
  readonly count: CompileOptions
  readonly starts: CompileOptions
  readonly scatter: CompileOptions
  readonly first?: CompileOptions | undefined
  readonly countBuckets: CompileOptions
  readonly scatterBuckets: CompileOptions
}

function kernelSources(
  type: SortType,
  valueType: SortType,
  values: SortedValues,
  { variant, bits, threads, each, together }: SortForm,
): SortSources {
  const serial = variant === 'serial'
  const shape = variant === 'subgroups' ? `${threads}x${each}` : variant
  const source = (label: string, ...parts: readonly string[]): CompileOptions => ({
    label: `sort-${label}`,
    wgsl: parts.join('\n'),
  })
  const head = `alias Key = ${type};\nalias Value = ${valueType};\nconst DIGITS = ${2 ** bits}u;\nconst THREADS = ${threads}u;\nconst EACH = ${each}u;\n${keysText(type)}`
  const enable = variant === 'subgroups' ? 'enable subgroups;\nrequires subgroup_id;\n' : ''
  const body = { serial: scatterSerialWgsl, workgroup: scatterWorkgroupWgsl, subgroups: scatterSubgroupsWgsl }
  const scatter = (name: string, valuesWgsl: string, buckets = false): CompileOptions => ({
    ...source(
      `scatter-${shape}${buckets ? '-buckets' : ''} ${type} ${name}`,
      `${enable}${head}`,
      ...[buckets ? digitBucketsWgsl : digitBitsWgsl, valuesWgsl, scatterBindingsWgsl, body[variant]],
    ),
    // All indices are derived from the counts of keys, so they are in bounds.
    ...(variant === 'subgroups' && { bounds: 'unchecked' }),
    ...(together !== undefined && { workgroupsPerMultiprocessor: together }),
  })
  const counter = serial ? 'serial' : 'workgroup'
  return {
    count: source(
      `count-${counter}-${bits} ${type}`,
      ...[head, digitBitsWgsl, serial ? countSerialWgsl : countWorkgroupWgsl],
    ),
    starts: source(`starts-${counter}`, keysText('u32'), serial ? startsSerialWgsl : startsWorkgroupWgsl),
    scatter:
      values === 'none' ? scatter('keys', valuesNoneWgsl) : scatter(`with ${valueType}`, valuesGivenWgsl),
    ...(values === 'indices' && { first: scatter('with indices', valuesMadeWgsl) }),
    countBuckets: source(
      `count-${counter}-${bits}-buckets ${type}`,
      ...[head, digitBucketsWgsl, serial ? countSerialWgsl : countWorkgroupWgsl],
    ),
    scatterBuckets:
      values === 'none'
        ? scatter('keys', valuesNoneWgsl, true)
        : values === 'given'
          ? scatter(`with ${valueType}`, valuesGivenWgsl, true)
          : scatter('with indices', valuesMadeWgsl, true),
  }
}

/**
 * The kernels that the sort uses, for some variants and for devices with the given workgroup memory, with
 * values of u32: for tests and for ahead-of-time compilation.
 */
export function sortSources(
  variants: readonly SortVariant[] = ['subgroups', 'workgroup', 'serial'],
  workgroupMemoryByteLength = Number.POSITIVE_INFINITY,
): CompileOptions[] {
  const sources = new Map<string | undefined, CompileOptions>()
  for (const values of ['none', 'given', 'indices'] as const) {
    const forms = [...subgroupForms[values === 'none' ? 'keys' : 'pairs'], workgroupForm, serialForm]
    const fits = (form: SortForm) =>
      form.variant !== 'subgroups' || workgroupBytes(form, values !== 'none') <= workgroupMemoryByteLength
    for (const form of forms.filter((one) => variants.includes(one.variant) && fits(one)))
      for (const type of ['f32', 'i32', 'u32'] as const)
        for (const source of Object.values({
          ...kernelSources(type, 'u32', values, form),
          ...exchangeSources(type, 'u32', values, form),
        }))
          if (source !== undefined) sources.set(source.label, source)
  }
  return [...sources.values()]
}
