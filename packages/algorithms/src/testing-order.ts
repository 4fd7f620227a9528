import type { BufferView, DeviceGroup, Program, Recorder } from '@tandem-gpu/core'
import { type ReferenceBackend, removableEdges, withoutEdge } from '@tandem-gpu/core/testing'
import { expect } from 'vitest'

/**
 * Tests that a program has every edge that it needs and no other; not part of the published package. `run` resets all data, runs the program
 * and says whether the result is right. With every edge it must be right in many random orders; without any one edge it must be wrong in some
 * order.
 *
 * A program that repeats the same work would hide edges between repetitions: tests change the input at the start of each
 * repetition (`recordIncrement`), and fold the outputs into totals at its end (`recordAccumulate`), to which each repetition contributes with another factor.
 */
export async function expectEveryEdgeToMatter(
  backend: ReferenceBackend,
  program: Program,
  run: () => Promise<boolean>,
  seeds = 12,
): Promise<void> {
  for (let seed = 1; seed <= seeds; seed++) {
    backend.seed = seed
    expect(await run(), `with every edge, seed ${seed}`).toBe(true)
  }
  const edges = removableEdges(program.plan)
  expect(edges.length).toBeGreaterThan(0)
  const unnoticed: string[] = []
  for (const edge of edges) {
    backend.transformPlan = (plan) => withoutEdge(plan, edge.from, edge.to, edge.previous)
    let noticed = false
    for (let seed = 1; seed <= seeds && !noticed; seed++) {
      backend.seed = seed
      noticed = !(await run())
    }
    if (!noticed) {
      const name = (index: number) => `${index} ${program.plan.commands[index]!.label}`
      unnoticed.push(`${name(edge.from)} → ${name(edge.to)}${edge.previous ? ' (next repetition)' : ''}`)
    }
  }
  backend.transformPlan = undefined
  expect(unnoticed).toEqual([])
}

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

/** Adds 1 to every element (u32) of contiguous views. */
export async function recordIncrement(
  group: DeviceGroup,
): Promise<(recorder: Recorder, views: readonly BufferView[]) => void> {
  const kernel = await group.compile({ label: 'increment', wgsl: incrementWgsl })
  return (recorder, views) => {
    for (const view of views)
      recorder.dispatch(kernel, {
        workgroups: Math.ceil(view.length / 64),
        args: { data: view },
        label: 'increment',
      })
  }
}

/** `total = 3 * total + data` (u32) for each pair of contiguous views: see `accumulated`. */
export async function recordAccumulate(
  group: DeviceGroup,
): Promise<(recorder: Recorder, data: readonly BufferView[], totals: readonly BufferView[]) => void> {
  const kernel = await group.compile({ label: 'accumulate', wgsl: accumulateWgsl })
  return (recorder, data, totals) => {
    for (const [index, view] of data.entries())
      recorder.dispatch(kernel, {
        workgroups: Math.ceil(view.length / 64),
        args: { data: view, total: totals[index]! },
        label: 'accumulate',
      })
  }
}

/** What `recordAccumulate` leaves in a zeroed total when repetition k, from 0, gives `values[k]`. */
export function accumulated(values: readonly number[]): number {
  return values.reduce((total, value) => (Math.imul(3, total) + value) >>> 0, 0)
}
