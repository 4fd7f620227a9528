/*
 * Runs the project's own wording of what the public WebGPU conformance tests check of compute kernels, on one device of a backend:
 *
 *   node tools/gpu-host/conformance-kernels.ts [--backend cuda|webgpu|reference] [--group NAME] [--failures N] [--print BATCH]
 *
 * Groups: expression, robust-access, zero-init, flow-control, subgroup, validation. Expected values come from integers and f64 numbers
 * computed here, or from what the specification allows. Prints the counts of each group and the first failures of each with a
 * reproducer; exit 1 when something failed. `--print` prints a batch's WGSL. A group that the device lacks a capability for says so.
 */
import { parseArgs } from 'node:util'
import { cuda } from '@tandem-gpu/backend-cuda'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { type Batch, type Failure, runBatch } from './conformance/batch.ts'
import { expressionBatches } from './conformance/expression.ts'
import { flowControlBatches } from './conformance/flow-control.ts'
import { robustAccessBatches } from './conformance/robust-access.ts'
import { subgroupBatches } from './conformance/subgroup.ts'
import { judgeValidation } from './conformance/validation.ts'
import { zeroInitBatches } from './conformance/zero-init.ts'

const { values } = parseArgs({
  options: {
    backend: { type: 'string', default: 'cuda' },
    group: { type: 'string' },
    failures: { type: 'string', default: '5' },
    print: { type: 'string' },
  },
})
const backends = { cuda, webgpu, reference: referenceBackend }
if (!(values.backend in backends))
  throw new Error(`--backend is cuda, webgpu or reference, not ${values.backend}`)
const shownFailures = Number(values.failures)

const groups: Record<string, () => Iterable<Batch>> = {
  expression: expressionBatches,
  'robust-access': robustAccessBatches,
  'zero-init': zeroInitBatches,
  'flow-control': flowControlBatches,
  subgroup: subgroupBatches,
}
if (values.print !== undefined) {
  for (const batches of Object.values(groups))
    for (const batch of batches()) if (batch.name === values.print) console.log(batch.wgsl)
  process.exit(0)
}

/** What a backend is known to do otherwise than the specification says. */
const deviations = [
  {
    backend: 'webgpu',
    batch: /^zero-init loop/,
    what: 'a variable without initial value in the body of a loop keeps its value from one iteration to the next (Dawn on Vulkan)',
  },
]

const group = await openGroup({ backends: [backends[values.backend as 'cuda']()], devices: 1 })
console.log(`${values.backend}: ${group.devices[0]!.info.name}`)
let failed = 0
for (const [name, batches] of Object.entries(groups)) {
  if (values.group !== undefined && values.group !== name) continue
  const start = performance.now()
  let cases = 0
  const failures: (Failure & { batch: string })[] = []
  const skipped = new Map<string, number>()
  for (const batch of batches()) {
    const result = await runBatch(group, batch)
    cases += result.cases
    if (result.skipped !== undefined)
      skipped.set(result.skipped, (skipped.get(result.skipped) ?? 0) + batch.cases)
    for (const failure of result.failures) failures.push({ ...failure, batch: batch.name })
  }
  report(name, cases, failures, start)
  for (const [capability, count] of skipped)
    console.log(`  ${count} cases need ${capability}, which this device lacks`)
}
if (values.group === undefined || values.group === 'validation') {
  const start = performance.now()
  const { cases, failures } = await judgeValidation(group)
  report('validation', cases, failures, start)
}
await group.destroy()
process.exitCode = failed > 0 ? 1 : 0

function report(
  name: string,
  cases: number,
  failures: readonly (Failure & { batch: string })[],
  start: number,
): void {
  const known = deviations.filter((d) => d.backend === values.backend)
  const isKnown = (failure: { batch: string }) => known.some((d) => d.batch.test(failure.batch))
  const unknown = failures.filter((failure) => !isKnown(failure))
  failed += unknown.length
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(`${name}: ${cases} cases, ${unknown.length} failed, ${seconds} s`)
  for (const { batch, what } of known) {
    const count = failures.filter((failure) => batch.test(failure.batch)).length
    if (count > 0) console.log(`  ${count} more are a known deviation: ${what}`)
  }
  for (const { batch, reproducer, expected, got } of unknown.slice(0, shownFailures))
    console.log(`  ${batch}: expected ${expected}, got ${got}\n    ${reproducer.replaceAll('\n', '\n    ')}`)
}
