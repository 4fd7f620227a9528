import {
  type AlgorithmOptions,
  allocateSharded,
  describeRun,
  type ElementSink,
  type ElementSource,
  generatedElements,
  notVerified,
  type Report,
  readElements,
  readSharded,
  runMeasured,
  type ShardedMatrix,
  type Verification,
  writeSharded,
} from '@tandem-gpu/algorithms'
import { type DeviceGroup, OwnedResources, type Recorder } from '@tandem-gpu/core'
import { blockLength, compileScan, recordScan } from './record-scan.ts'

export interface ScanOptions extends AlgorithmOptions {
  readonly elements: number
  /** Default: reproducible pseudo-random elements. */
  readonly input?: ElementSource<'u32'> | undefined
  readonly output?: ElementSink<'u32'> | undefined
}

/**
 * Inclusive prefix sums of a vector over all devices of the group. `bytes` counts two reads and a write of
 * every element.
 */
export async function scan(group: DeviceGroup, options: ScanOptions): Promise<Report> {
  const { elements, input: source = generatedElements('u32'), verify = true } = options
  const owned = new OwnedResources()
  try {
    const kernels = owned.keep(await compileScan(group))
    const shape = { zero: false, alignment: blockLength }
    const input = owned.keep(await allocateSharded(group, 'u32', elements, 1, { label: 'input', ...shape }))
    const output = owned.keep(await allocateSharded(group, 'u32', elements, 1, { label: 'output', ...shape }))
    await writeSharded(group, input, source)
    const record = (recorder: Recorder) => recordScan(recorder, kernels, input, output)
    const run = await runMeasured(group, record, { ...options, label: 'scan' })
    const verification = verify ? await verifyScan(group, source, output) : notVerified
    if (options.output) await readSharded(group, output, options.output)
    const described = describeRun(group, run, { bytes: 12 * elements })
    return { algorithm: 'scan', shape: { elements }, ...described, ...verification, notes: [] }
  } finally {
    owned.destroy()
  }
}

async function verifyScan(
  group: DeviceGroup,
  source: ElementSource<'u32'>,
  output: ShardedMatrix<'u32'>,
): Promise<Verification> {
  let sum = 0
  let wrong = 0
  await readSharded(group, output, async (offset, found) => {
    const given = await readElements(source, 'u32', offset, found.length)
    for (const [i, value] of given.entries()) {
      sum = (sum + value) >>> 0
      if (found[i] !== sum) wrong++
    }
  })
  const verification = wrong === 0 ? 'every element, exactly' : `${wrong} elements are wrong`
  return { checked: true, verified: wrong === 0, verification, maxError: wrong === 0 ? 0 : Number.NaN }
}
