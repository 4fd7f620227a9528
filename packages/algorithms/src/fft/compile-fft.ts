import {
  type BufferView,
  type DeviceBuffer,
  type DeviceGroup,
  isGpuError,
  type Kernel,
  OwnedResources,
} from '@tandem-gpu/core'
import { requireGroup } from '../option-types.ts'
import { requireResult } from '../require-result.ts'
import { type FftStep, stepsOf } from './fft-steps.ts'
import {
  type FftLimits,
  type FftPass,
  type FftPlan,
  type FftPlanOptions,
  fftLimits,
  planFft,
} from './plan-fft.ts'

/** A step with its kernel. */
export interface CompiledStep extends FftStep {
  readonly kernel: Kernel
  /** The step's table of factors in the memory of each device, by ordinal. */
  readonly tables: readonly BufferView<'f32'>[]
}

/** A pass with the kernels of its steps. */
export interface CompiledPass extends FftPass {
  readonly steps: readonly CompiledStep[]
}

/** The result of `compileFft`. */
export interface CompiledFft {
  readonly plan: FftPlan
  readonly passes: readonly CompiledPass[]
  destroy(): void
}

/** Compiles the kernels of a plan, and uploads their tables of factors to every device. */
export async function compileFft(group: DeviceGroup, plan: FftPlan): Promise<CompiledFft> {
  requireGroup(group)
  requireResult(plan, 'passes', 'The plan of compileFft', 'a value that planFft returned')
  const passes = plan.passes.map((pass) => ({ ...pass, steps: stepsOf(plan, pass) }))
  const steps = passes.flatMap((pass) => pass.steps)
  const owned = new OwnedResources()
  try {
    const kernels = await owned.keepAll(
      steps.map(({ source }) => group.compile({ ...source, terminates: true })),
    )
    const tables = new Map<FftStep['table'], readonly DeviceBuffer<'f32'>[]>()
    for (const { table } of steps) {
      if (tables.has(table)) continue
      const factors = await table?.()
      // A binding cannot be empty, so a step without factors gets one value.
      const values = factors?.length ? factors : Float32Array.of(1, 0)
      const options = { label: 'fft table', zero: false }
      const allocated = group.devices.map((device) => device.allocate('f32', values.length, options))
      tables.set(table, await owned.keepAll(allocated))
      for (const buffer of tables.get(table)!)
        if (buffer.device.local) await group.queue.write(buffer, values)
    }
    const compiled = (step: FftStep): CompiledStep => ({
      ...step,
      kernel: kernels[steps.indexOf(step)]!,
      tables: tables.get(step.table)!,
    })
    return {
      plan,
      passes: passes.map((pass) => ({ ...pass, steps: pass.steps.map(compiled) })),
      destroy: () => owned.destroy(),
    }
  } catch (error) {
    owned.destroy()
    throw error
  }
}

/**
 * Plans and compiles. If kernels for these lengths cannot be compiled, uses the generic kernels, which may be
 * shipped compiled, and adds a note.
 */
export async function compileAnywhere(
  group: DeviceGroup,
  options: Omit<FftPlanOptions, 'limits'>,
  limits: FftLimits = fftLimits(group.devices),
): Promise<{ readonly compiled: CompiledFft; readonly notes: readonly string[] }> {
  const plan = planFft({ ...options, limits })
  try {
    return { compiled: await compileFft(group, plan), notes: [] }
  } catch (error) {
    if (!limits.lines || !isGpuError(error) || error.code !== 'unsupported') throw error
    const compiled = await compileFft(group, planFft({ ...options, limits: { ...limits, lines: false } }))
    const note = `Kernels for these lengths cannot be compiled here, so the slower kernels for any length were used: ${error.message}`
    return { compiled, notes: [note] }
  }
}
