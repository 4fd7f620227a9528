import { describeMethod } from '../fft/fft.ts'
import type { FftPlan } from '../fft/plan-fft.ts'

/** Returns a plan as text: the arrays, and a line for each pass. */
export function printFftPlan(plan: FftPlan): string {
  const side = (shape: readonly number[], real: boolean) =>
    `${shape.join(' × ')} ${real ? 'real' : 'complex'}`
  const head = `${plan.direction} fft of ${side(plan.inputShape, plan.realInput)} to ${side(plan.outputShape, plan.realOutput)}, order ${plan.order}, times ${plan.scale}`
  const passes = plan.passes.map(({ axis, method, from, to, transposes }) => {
    const kinds = from === to ? '' : `, ${from} to ${to}`
    return `  axis ${axis}: ${describeMethod(method)}${kinds}${transposes ? ', stored transposed' : ''}`
  })
  return [head, ...passes].join('\n')
}
