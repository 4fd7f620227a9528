import { isGpuError } from '../../errors.ts'
import type { DeviceGroup } from '../../group/group.ts'

/** A case that gave something else than expected. */
export interface KernelFailure {
  /** A statement, function or kernel that shows it alone, with its inputs. */
  readonly reproducer: string
  readonly expected: string
  readonly got: string
}

/**
 * Many cases in one kernel. Its bindings are `input`, an `array<u32>` that it reads, if it has one, and
 * `out`, an `array<u32>` that it writes; floats travel as their bits.
 */
export interface Batch {
  readonly name: string
  readonly wgsl: string
  readonly workgroups: number
  readonly input: Uint32Array<ArrayBuffer>
  /** What `out` holds before, in words; it ends with this length. */
  readonly output: Uint32Array<ArrayBuffer>
  readonly cases: number
  readonly needs?: 'shader-f16' | 'subgroups'
  check(out: Uint32Array): KernelFailure[]
}

/** What became of a batch; `skipped` names the capability that the device lacks. */
export interface BatchResult {
  readonly cases: number
  readonly failures: readonly KernelFailure[]
  readonly skipped: string | undefined
}

/** The bindings of a batch's kernel. */
export const bindings = `@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
`

/** Runs a batch on the group's first device. */
export async function runBatch(group: DeviceGroup, batch: Batch): Promise<BatchResult> {
  const [device] = group.devices
  if (batch.needs !== undefined && !device!.features.has(batch.needs))
    return { cases: 0, failures: [], skipped: batch.needs }
  const { name, wgsl, workgroups, input, output, cases } = batch
  try {
    const kernel = await group.compile({ label: name, wgsl })
    const source = await device!.allocate('u32', input.length)
    const target = await device!.allocate('u32', output.length)
    await group.queue.write(source, input)
    await group.queue.write(target, output)
    const args = /\binput\[/.test(wgsl) ? { input: source, out: target } : { out: target }
    const program = group.record((r) => r.dispatch(kernel, { workgroups, args }))
    await group.queue.run(program)
    const words = (await group.queue.read(target)) as Uint32Array
    for (const resource of [program, source, target, kernel]) resource.destroy()
    return { cases, failures: batch.check(words), skipped: undefined }
  } catch (error) {
    if (!isGpuError(error)) throw error
    const failure = { reproducer: wgsl, expected: 'a result', got: `${error.code}: ${error.message}` }
    return { cases, failures: [failure], skipped: undefined }
  }
}

/** A word as hexadecimal digits, for reproducers. */
export function hex(word: number): string {
  return `0x${(word >>> 0).toString(16).padStart(8, '0')}`
}

const floats = new Float32Array(1)
const words = new Uint32Array(floats.buffer)

/** The bits of an f32. */
export function floatBits(value: number): number {
  floats[0] = value
  return words[0]!
}

/** The f32 with these bits. */
export function bitsFloat(bits: number): number {
  words[0] = bits
  return floats[0]!
}
