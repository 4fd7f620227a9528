import type { CudaParameter } from './kernel.ts'
import type { Names } from './names.ts'

/** Rounds of a block between looks at the stop word; a round that takes long looks by itself. */
const roundsBetweenLooks = 1024

/** How the body of a kernel names its workgroup and the number of workgroups. */
export interface WorkgroupText {
  /** Followed by x, y or z. */
  readonly id: string
  readonly count: string
}

/** Of a kernel whose grid is the workgroups. */
export const gridText: WorkgroupText = { id: 'blockIdx.', count: 'gridDim.' }

/** Of a kernel that reads how many workgroups there are. */
export const roundsText: WorkgroupText = { id: 'workgroup_', count: 'workgroups_' }

/** What stands behind the other parameters of a kernel that reads how many workgroups there are. */
export const roundsParameters: readonly CudaParameter[] = [
  {
    kind: 'workgroup-counts',
    name: 'workgroup_counts',
    type: 'const unsigned*',
    bindingIndex: undefined,
  },
  {
    kind: 'most-workgroups',
    name: 'most_workgroups',
    type: 'unsigned long long',
    bindingIndex: undefined,
  },
]

/**
 * Lines before the body, which becomes a function of the workgroup: a `return` in it ends this workgroup
 * alone.
 */
export const roundsHead: readonly string[] = [
  'const unsigned workgroups_x = workgroup_counts[0], workgroups_y = workgroup_counts[1], workgroups_z = workgroup_counts[2];',
  'if (workgroups_x > most_workgroups || workgroups_y > most_workgroups || workgroups_z > most_workgroups) return;',
  'const auto run_workgroup = [&](const unsigned workgroup_x, const unsigned workgroup_y, const unsigned workgroup_z) {',
]

/**
 * Lines after the body: each block of a grid of any length takes every so-manieth workgroup. Where threads of
 * a block meet, a workgroup begins when all threads have left the one before. `look` is the statement that
 * looks at the stop word, if any.
 */
export function roundsTail(meets: boolean, look: string | undefined): string[] {
  return [
    '};',
    'const unsigned workgroups_xy = workgroups_x * workgroups_y;',
    'const unsigned long long workgroups = (unsigned long long)workgroups_xy * workgroups_z;',
    ...(look === undefined ? [] : [`unsigned rounds = ${roundsBetweenLooks}u;`]),
    'for (unsigned long long workgroup = blockIdx.x; workgroup < workgroups; workgroup += gridDim.x) {',
    '  const unsigned in_layer = (unsigned)(workgroup % workgroups_xy);',
    '  run_workgroup(in_layer % workgroups_x, in_layer / workgroups_x, (unsigned)(workgroup / workgroups_xy));',
    ...(meets ? ['  __syncthreads();'] : []),
    ...(look === undefined ? [] : [`  if (--rounds == 0u) { rounds = ${roundsBetweenLooks}u; ${look} }`]),
    '}',
  ]
}

/**
 * The statement that looks at the stop word between two workgroups, where no thread has anything under way.
 */
export function lookBetween(names: Names, together: boolean, stopWord: string): string {
  return `${names.prelude(together ? 'look_together' : 'look')}(${stopWord});`
}

/** The statement that looks at the stop word before the only workgroup. */
export function lookFirst(names: Names, together: boolean, stopWord: string): string {
  return `${names.prelude(together ? 'look_first_together' : 'look_first')}(${stopWord});`
}
