import type { FftMethod, FftPlan } from './plan-fft.ts'

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

/** How lines are transformed, in words. */
export function describeMethod(method: FftMethod): string {
  const stages = (radices: readonly number[]) => radices.join(' · ')
  switch (method.kind) {
    case 'line':
      return method.convolves
        ? `lines of ${method.length} by a convolution of ${method.points} = ${stages(method.radices)}`
        : `lines of ${stages(method.radices)}`
    case 'square':
      return `squares of (${stages(method.columns.radices)}) × (${stages(method.rows.radices)})`
    case 'packed':
      return `real numbers in pairs: ${describeMethod(method.half)}`
    case 'stages':
      return `stages of ${stages(method.radices)} through memory`
    case 'chirp':
      return `lines of ${method.length} by a convolution of ${method.points} = ${stages(method.stages.radices)} through memory`
  }
}
