import { type DeviceGroup, OwnedResources } from '@tandem-gpu/core'
import { generatedElements } from '../element-source.ts'
import { allocateSharded, gatherSharded, writeSharded } from '../sharded-matrix.ts'
import { compileFft } from './compile-fft.ts'
import { type FftLimits, type FftPlan, type FftPlanOptions, fftLimits, planFft } from './plan-fft.ts'
import { matricesOf, recordFft } from './record-fft.ts'
import { referenceTransform } from './reference-fft.ts'

/**
 * Transforms random numbers by a plan, and compares the result with f64. Not part of the published package.
 */
export async function transformed(
  group: DeviceGroup,
  options: Omit<FftPlanOptions, 'limits'> & { readonly limits?: Partial<FftLimits> },
): Promise<{ readonly plan: FftPlan; readonly result: Float32Array; readonly error: number }> {
  const plan = planFft({ ...options, limits: { ...fftLimits(group.devices), ...options.limits } })
  const { input: from, output: to } = matricesOf(plan)
  const owned = new OwnedResources()
  try {
    const fft = owned.keep(await compileFft(group, plan))
    const input = owned.keep(await allocateSharded(group, 'f32', from.rows, from.columns, { zero: false }))
    const output = owned.keep(await allocateSharded(group, 'f32', to.rows, to.columns))
    const data = new Float32Array(from.rows * from.columns)
    generatedElements('f32', 7)(0, data)
    const program = owned.keep(group.record((recorder) => recordFft(recorder, group, { fft, input, output })))
    await writeSharded(group, input, data)
    await group.queue.run(program)
    const result = await gatherSharded(group, output)
    return { plan, result, error: relativeError(result, await referenceTransform(plan, data)) }
  } finally {
    owned.destroy()
  }
}

/** ‖result − expected‖ / ‖expected‖. */
export function relativeError(result: ArrayLike<number>, expected: ArrayLike<number>): number {
  let [difference, norm] = [0, 0]
  for (let index = 0; index < expected.length; index++) {
    difference += (result[index]! - expected[index]!) ** 2
    norm += expected[index]! ** 2
  }
  return difference === 0 ? 0 : Math.sqrt(difference / norm)
}
