import type { DeviceGroup, Plan, Program, Recorder } from '@tandem-gpu/core'
import { type ReferenceBackend, removableEdges, withoutEdge } from '@tandem-gpu/core/testing'
import { expect } from 'vitest'
import type { ShardedMatrix } from './sharded-matrix.ts'

/**
 * Tests that a program's order is neither too weak nor too strong; not part of the published package. `run` resets all data, runs
 * the program and says whether the result is right. With every edge it must be, for many random orders; without any one of
 * them it must go wrong in some order.
 *
 * A program that repeats the same work would hide edges between repetitions: tests change the input at the start of each
 * repetition (`recordIncrement`) and add up the outputs at its end (`recordAccumulate`).
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
    backend.transformPlan = (plan: Plan) => withoutEdge(plan, edge.from, edge.to, edge.previous)
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
  if (id.x < params.data_length) { total[params.total_base + id.x] += data[params.data_base + id.x]; }
}`

/** Adds 1 to every element (as u32) of a matrix with dense slices. */
export async function recordIncrement(
  group: DeviceGroup,
): Promise<(recorder: Recorder, matrix: ShardedMatrix) => void> {
  const kernel = await group.compile({ label: 'increment', wgsl: incrementWgsl })
  return (recorder, matrix) => {
    for (const { view } of matrix.slices)
      recorder.dispatch(kernel, {
        workgroups: Math.ceil(view.length / 64),
        args: { data: view },
        label: 'increment',
      })
  }
}

/** Adds every element (as u32) of one matrix to that of another with equal, dense slices. */
export async function recordAccumulate(
  group: DeviceGroup,
): Promise<(recorder: Recorder, matrix: ShardedMatrix, total: ShardedMatrix) => void> {
  const kernel = await group.compile({ label: 'accumulate', wgsl: accumulateWgsl })
  return (recorder, matrix, total) => {
    for (const [ordinal, { view }] of matrix.slices.entries())
      recorder.dispatch(kernel, {
        workgroups: Math.ceil(view.length / 64),
        args: { data: view, total: total.slices[ordinal]!.view },
        label: 'accumulate',
      })
  }
}
