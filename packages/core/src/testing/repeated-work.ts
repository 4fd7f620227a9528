import type { BufferView } from '../group/device.ts'
import type { DeviceGroup } from '../group/group.ts'
import type { Recorder } from '../recording/recorder.ts'

const incrementWgsl = `
struct Params { data_base: u32, data_length: u32 }
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@compute @workgroup_size(64)
fn increment(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < params.data_length) { data[params.data_base + id.x] += 1u; }
}`

const accumulateWgsl = `
struct Params { data_base: u32, data_length: u32, total_base: u32 }
@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> total: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(64)
fn accumulate(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < params.data_length) {
    let index = params.total_base + id.x;
    total[index] = 3u * total[index] + data[params.data_base + id.x];
  }
}`

/** Compiles a kernel and returns what records it: 1 is added to every element (u32) of contiguous views. */
export async function recordIncrement(
  group: DeviceGroup,
): Promise<(recorder: Recorder, views: readonly BufferView<'u32'>[]) => void> {
  const kernel = await group.compile({ label: 'increment', wgsl: incrementWgsl })
  return (recorder, views) => {
    for (const data of views)
      recorder.dispatch(kernel, {
        workgroups: Math.ceil(data.length / 64),
        args: { data },
        label: 'increment',
      })
  }
}

/**
 * Compiles a kernel and returns what records it: `total = 3 * total + data` (u32) for each pair of contiguous
 * views.
 */
export async function recordAccumulate(
  group: DeviceGroup,
): Promise<
  (recorder: Recorder, data: readonly BufferView<'u32'>[], totals: readonly BufferView<'u32'>[]) => void
> {
  const kernel = await group.compile({ label: 'accumulate', wgsl: accumulateWgsl })
  return (recorder, views, totals) => {
    for (const [index, data] of views.entries())
      recorder.dispatch(kernel, {
        workgroups: Math.ceil(data.length / 64),
        args: { data, total: totals[index]! },
        label: 'accumulate',
      })
  }
}

/** What `recordAccumulate` leaves in a zeroed total when repetition k, from 0, gives `values[k]`. */
export function accumulated(values: readonly number[]): number {
  return values.reduce((total, value) => (Math.imul(3, total) + value) >>> 0, 0)
}
