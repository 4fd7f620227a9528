import { halfBits } from '../half-float.ts'
import { readBuffer } from './kernel-buffers.ts'
import type { KernelBuffer, Tolerance } from './kernel-test.ts'

/**
 * Describes where two results of a kernel differ by more than the tolerance; undefined if they agree.
 * Integers must be equal.
 */
export function compareBuffers(
  buffer: KernelBuffer,
  actual: Uint8Array,
  expected: Uint8Array,
  tolerance: Tolerance,
): string | undefined {
  const a = readBuffer(buffer, actual)
  const b = readBuffer(buffer, expected)
  const integers = buffer.scalar === 'i32' || buffer.scalar === 'u32'
  const bad = a.flatMap((x, i) =>
    x === b[i] || (!integers && isClose(x, b[i]!, buffer.scalar, tolerance)) ? [] : [i],
  )
  const [first] = bad
  if (first === undefined) return undefined
  return `${buffer.name}[${first}] is ${a[first]}, not ${b[first]}; ${bad.length} of ${a.length} differ`
}

function isClose(
  a: number,
  b: number,
  scalar: KernelBuffer['scalar'],
  { ulp, absolute, relative }: Tolerance,
): boolean {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b)
  const difference = Math.abs(a - b)
  if (difference <= absolute || difference <= relative * Math.max(Math.abs(a), Math.abs(b))) return true
  return Math.abs(ordinal(a, scalar) - ordinal(b, scalar)) <= ulp
}

/** The rank of a float among all floats of its type: the ranks of neighbours differ by one. */
function ordinal(x: number, scalar: KernelBuffer['scalar']): number {
  if (scalar === 'f16') {
    const magnitude = halfBits(Math.abs(x))
    return x < 0 ? -magnitude : magnitude
  }
  const view = new DataView(new ArrayBuffer(4))
  view.setFloat32(0, Math.abs(x))
  return x < 0 ? -view.getUint32(0) : view.getUint32(0)
}
