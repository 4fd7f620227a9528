import type { CompileOptions, DeviceGroup, Kernel } from '@tandem-gpu/core'
import { compileTerminating } from '../compile-terminating.ts'
import bucketStartsWgsl from './bucket-starts.part.wgsl.ts'
import segmentsWgsl from './segments.part.wgsl.ts'
import selectCountSerialWgsl from './select-count-serial.part.wgsl.ts'
import selectCountWorkgroupWgsl from './select-count-workgroup.part.wgsl.ts'
import selectPickWgsl from './select-pick.part.wgsl.ts'
import { keysText, type SortedValues, type SortForm, type SortType } from './sort-form.ts'
import valuesGivenWgsl from './values-given.part.wgsl.ts'
import valuesNoneWgsl from './values-none.part.wgsl.ts'

/**
 * The kernels that a sort over several devices needs in addition to those of a local sort: the passes of the
 * partition, and the kernels that locate and move its parts.
 */
export interface ExchangeKernels {
  readonly selectCount: Kernel
  readonly selectPick: Kernel
  readonly bucketStarts: Kernel
  readonly segments: Kernel
}

export function compileExchange(
  group: DeviceGroup,
  type: SortType,
  valueType: SortType,
  values: SortedValues,
  form: SortForm,
) {
  return compileTerminating(group, exchangeSources(type, valueType, values, form))
}

export function exchangeSources(
  type: SortType,
  valueType: SortType,
  values: SortedValues,
  { variant }: SortForm,
) {
  const head = `alias Key = ${type};\nalias Value = ${valueType};\n`
  const source = (label: string, ...parts: readonly string[]): CompileOptions => ({
    label: `sort-${label}`,
    wgsl: parts.join('\n'),
  })
  const [counter, count] =
    variant === 'serial' ? ['serial', selectCountSerialWgsl] : ['workgroup', selectCountWorkgroupWgsl]
  const [moved, valuesWgsl] =
    values === 'none' ? ['keys', valuesNoneWgsl] : [`with ${valueType}`, valuesGivenWgsl]
  return {
    selectCount: source(`select-count-${counter} ${type}`, head, keysText(type), count),
    selectPick: source('select-pick', selectPickWgsl),
    bucketStarts: source('bucket-starts', bucketStartsWgsl),
    segments: source(`segments ${type} ${moved}`, head, segmentsWgsl, valuesWgsl),
  }
}
