import type { CudaParameter } from './kernel.ts'
import type { Names } from './names.ts'

/** The number of rounds of a block between checks of the stop word; a long round checks it itself. */
const roundsBetweenLooks = 1024

/** The names of the workgroup id and the number of workgroups in the body of a kernel. */
export interface WorkgroupText {
  /** Followed by x, y or z. */
  readonly id: string
  readonly count: string
}

/** For a kernel whose grid matches the workgroups. */
export const gridText: WorkgroupText = { id: 'blockIdx.', count: 'gridDim.' }

/** For a kernel that reads the number of workgroups from memory. */
export const roundsText: WorkgroupText = { id: 'workgroup_', count: 'workgroups_' }

/** The additional last parameters of a kernel that reads the number of workgroups from memory. */
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
 * Lines before the body, which becomes a function of the workgroup, so that a `return` in it ends only this
 * workgroup. It is inlined, because a function would take from memory what it uses of the kernel.
 */
export const roundsHead: readonly string[] = [
  'const unsigned workgroups_x = workgroup_counts[0], workgroups_y = workgroup_counts[1], workgroups_z = workgroup_counts[2];',
  'if (workgroups_x > most_workgroups || workgroups_y > most_workgroups || workgroups_z > most_workgroups) return;',
  'const auto run_workgroup = [&](const unsigned workgroup_x, const unsigned workgroup_y, const unsigned workgroup_z) __attribute__((always_inline)) {',
]

/**
 * Lines after the body: for a grid of n blocks, each block runs every nth workgroup. If threads of a block
 * meet, a workgroup begins when all threads have finished the previous one. `look` is the statement that
 * checks the stop word, if any.
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

/** The statement that checks the stop word between two workgroups, when no thread has pending work. */
export function lookBetween(names: Names, together: boolean, stopWord: string): string {
  return `${names.prelude(together ? 'look_together' : 'look')}(${stopWord});`
}

/** The statement that checks the stop word before the only workgroup. */
export function lookFirst(names: Names, together: boolean, stopWord: string): string {
  return `${names.prelude(together ? 'look_first_together' : 'look_first')}(${stopWord});`
}
