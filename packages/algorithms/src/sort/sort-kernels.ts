import {
  type CompileOptions,
  type DeviceGroup,
  GpuError,
  type Kernel,
  requireOptions,
} from '@tandem-gpu/core'
import { compileTerminating } from '../compile-terminating.ts'
import { requireGroup, requireNumbers } from '../option-types.ts'
import { invalid } from '../require-result.ts'
import { sectionsOf } from '../sections.ts'
import { fastestVariant, requireSubgroupsOf32 } from '../subgroup-size.ts'
import bucketStartsWgsl from './bucket-starts.part.wgsl.ts'
import digitsWgsl from './digits.part.wgsl.ts'
import scatterBindingsWgsl from './scatter-bindings.part.wgsl.ts'
import scatterSubgroupsWgsl from './scatter-subgroups.part.wgsl.ts'
import segmentsWgsl from './segments.part.wgsl.ts'
import selectPickWgsl from './select-pick.part.wgsl.ts'
import serialWgsl from './serial.part.wgsl.ts'
import keysWgsl from './sort-keys.part.wgsl.ts'
import valuesWgsl from './values.part.wgsl.ts'
import workgroupWgsl from './workgroup.part.wgsl.ts'

type Step = 'count' | 'starts' | 'select' | 'scatter'
const [serial, workgroup] = [sectionsOf<Step>(serialWgsl), sectionsOf<Step>(workgroupWgsl)]
const scatters = { serial: serial.scatter, workgroup: workgroup.scatter, subgroups: scatterSubgroupsWgsl }
/** How keys give digits, and where the values come from. */
const digitParts = sectionsOf<'bits' | 'buckets'>(digitsWgsl)
const valuesParts = sectionsOf<SortedValues>(valuesWgsl)

/** Types of elements that can be sorted, and of the values that move with them. */
export type SortType = 'f32' | 'i32' | 'u32'

/**
 * How keys are ranked: by subgroups of 32 lanes, through workgroup memory with 4-bit digits, or by one
 * invocation for each range. All variants produce the same bits.
 */
export type SortVariant = 'subgroups' | 'workgroup' | 'serial'

/** What moves with the keys: nothing, given values, or the indices of the elements. */
export type SortedValues = 'none' | 'given' | 'indices'

/** The dimensions of a variant's kernels. */
export interface SortForm {
  readonly variant: SortVariant
  readonly bits: 4 | 8
  readonly threads: number
  readonly each: number
  /** The number of workgroups that should share a multiprocessor. */
  readonly together?: number | undefined
}

/** What determines the kernels of a sort. */
interface SortChoice {
  readonly type: SortType
  readonly values: SortedValues
  readonly valueType: SortType
  readonly form: SortForm
}

/** The kernels of one pass. */
export interface PassKernels {
  /** Counts the digits of the keys of each range. */
  readonly count: Kernel
  /** Sums the counts of all earlier ranges, which gives the start of each range. */
  readonly starts: Kernel
  /** Moves the keys and the values. */
  readonly scatter: Kernel
}

/** The kernels that `compileSort` compiles. */
export interface SortKernels extends PassKernels, SortChoice {
  /** If the values are indices, the first pass generates them. */
  readonly firstScatter: Kernel
  /** Only for several devices. */
  readonly several?: SeveralKernels | undefined
  destroy(): void
}

/** The kernels that a sort over several devices needs in addition to those of a local sort. */
export interface SeveralKernels {
  /** Find the splitters: count the digits of keys, and choose one digit of each splitter. */
  readonly selectCount: Kernel
  readonly selectPick: Kernel
  /** Count and move keys in the pass that orders them by bucket. */
  readonly countBuckets: Kernel
  readonly scatterBuckets: Kernel
  /** Locate the buckets of all devices, and move the parts of them that belong to one device. */
  readonly bucketStarts: Kernel
  readonly segments: Kernel
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
const subgroupForms: readonly SortForm[] = [
  { variant: 'subgroups', bits: 8, threads: 512, each: 16, together: 2 },
  { variant: 'subgroups', bits: 8, threads: 256, each: 12 },
]

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
    values: ['none', 'given', 'indices'],
    valueType: 'string',
    variant: ['subgroups', 'workgroup', 'serial'],
  })
  const { type, values = 'none', valueType = 'u32', variant } = options
  for (const wanted of [type, valueType]) requireNumbers('A sort needs keys', wanted)
  if (values === 'indices' && valueType !== 'u32') throw invalid(`Indices have type u32, not ${valueType}.`)
  const choice = { type, values, valueType, form: sortForm(group, variant) }
  const several = group.devices.length > 1 ? severalSources(choice) : undefined
  const { kernels, destroy } = await compileTerminating(group, { ...localSources(choice), ...several })
  const firstScatter = kernels.firstScatter ?? kernels.scatter
  return { ...choice, ...kernels, firstScatter, several: several && (kernels as SeveralKernels), destroy }
}

function sortForm(group: DeviceGroup, given: SortVariant | undefined): SortForm {
  if (given === 'subgroups') requireSubgroupsOf32(group)
  const variant = given ?? fastestVariant(group)
  if (variant === 'serial') return serialForm
  if (variant === 'workgroup') return workgroupForm
  const form = subgroupForms.find((one) =>
    group.devices.every(
      ({ limits }) =>
        limits.maxWorkgroupInvocations >= one.threads &&
        limits.maxWorkgroupMemoryByteLength >= (one.together ?? 1) * workgroupBytes(one),
    ),
  )
  if (given === 'subgroups' && form === undefined)
    throw new GpuError(
      'unsupported',
      'The sort by subgroups needs 256 invocations and 24 KB of workgroup memory.',
    )
  return form ?? workgroupForm
}

/** The size of the workgroup variables in scatter-subgroups.part.wgsl. */
function workgroupBytes({ threads, each }: SortForm): number {
  return 4 * ((threads / 32 + threads / 256 + 2) * 256 + 8 + threads * each)
}

const source = (label: string, ...parts: readonly string[]): CompileOptions => ({
  label: `sort-${label}`,
  wgsl: parts.join('\n'),
})

/** Source text that all kernels of the sort share. */
const keysText = (type: SortType) => `const FLOATS = ${type === 'f32'};\n${keysWgsl}`

const aliases = ({ type, valueType }: SortChoice) => `alias Key = ${type};\nalias Value = ${valueType};\n`

/** What the kernels of a pass begin with. */
function passText(choice: SortChoice): string {
  const { bits, threads, each } = choice.form
  return `${aliases(choice)}const DIGITS = ${2 ** bits}u;\nconst THREADS = ${threads}u;\nconst EACH = ${each}u;\n${keysText(choice.type)}`
}

/** The kernels that count, which subgroups would not make faster. */
const countersOf = ({ form }: SortChoice) =>
  form.variant === 'serial' ? { name: 'serial', ...serial } : { name: 'workgroup', ...workgroup }

function countSource(choice: SortChoice, digits: keyof typeof digitParts): CompileOptions {
  const { name, count } = countersOf(choice)
  return source(
    `count-${name}-${choice.form.bits}${digits === 'buckets' ? '-buckets' : ''} ${choice.type}`,
    ...[passText(choice), digitParts[digits], count],
  )
}

function scatterSource(choice: SortChoice, digits: keyof typeof digitParts): CompileOptions {
  const { variant, threads, each, together } = choice.form
  const subgroups = variant === 'subgroups'
  const shape = subgroups ? `${threads}x${each}` : variant
  const name = { none: 'keys', given: `with ${choice.valueType}`, indices: 'with indices' }[choice.values]
  const enable = subgroups ? 'enable subgroups;\nrequires subgroup_id;\n' : ''
  return {
    ...source(
      `scatter-${shape}${digits === 'buckets' ? '-buckets' : ''} ${choice.type} ${name}`,
      `${enable}${passText(choice)}`,
      ...[digitParts[digits], valuesParts[choice.values], scatterBindingsWgsl, scatters[variant]],
    ),
    // All indices are derived from the counts of keys, so they are in bounds.
    ...(subgroups && { bounds: 'unchecked' }),
    ...(together !== undefined && { workgroupsPerMultiprocessor: together }),
  }
}

/** The kernels of a local sort. */
function localSources(choice: SortChoice) {
  const made = choice.values === 'indices'
  const { name, starts } = countersOf(choice)
  return {
    count: countSource(choice, 'bits'),
    starts: source(`starts-${name}`, keysText('u32'), starts),
    // The first pass generates indices; the others move them like given values.
    scatter: scatterSource(made ? { ...choice, values: 'given' } : choice, 'bits'),
    ...(made && { firstScatter: scatterSource(choice, 'bits') }),
  }
}

/** The kernels that a sort over several devices needs in addition. */
function severalSources(choice: SortChoice) {
  const { type, valueType, values } = choice
  const { name, select } = countersOf(choice)
  const moved = values === 'none' ? 'keys' : `with ${valueType}`
  const movedWgsl = valuesParts[values === 'none' ? 'none' : 'given']
  return {
    selectCount: source(`select-count-${name} ${type}`, aliases(choice), keysText(type), select),
    selectPick: source('select-pick', selectPickWgsl),
    countBuckets: countSource(choice, 'buckets'),
    scatterBuckets: scatterSource(choice, 'buckets'),
    bucketStarts: source('bucket-starts', bucketStartsWgsl),
    segments: source(`segments ${type} ${moved}`, aliases(choice), segmentsWgsl, movedWgsl),
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
  const fitting = subgroupForms.filter((form) => workgroupBytes(form) <= workgroupMemoryByteLength)
  const forms = [...fitting, workgroupForm, serialForm].filter(({ variant }) => variants.includes(variant))
  for (const values of ['none', 'given', 'indices'] as const)
    for (const form of forms)
      for (const type of ['f32', 'i32', 'u32'] as const) {
        const choice: SortChoice = { type, values, valueType: 'u32', form }
        for (const one of Object.values({ ...localSources(choice), ...severalSources(choice) }))
          if (one !== undefined) sources.set(one.label, one)
      }
  return [...sources.values()]
}
