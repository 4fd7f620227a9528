import { halfBits, halfValue } from '../half-float.ts'
import type { KernelBuffer } from './kernel-test.ts'

const specialFloats = [
  ...[
    0,
    -0,
    1,
    -1,
    0.5,
    -0.5,
    1.5,
    -1.5,
    2.5,
    -2.5,
    3,
    -3,
    0.25,
    -0.75,
    7.999,
    -7.999,
    100,
    -100,
    1 / 3,
    -2 / 3,
  ],
  ...[1024.5, -1024.5, 0.001, -0.001, 2, -2, 63, 64, 1.000001, 0.999999, 10, -10],
]
const specialIntegers = [
  ...[
    0, 1, -1, 2, -2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 255, 256, -255, 65535, 65536, 0x7fffffff,
    -0x80000000,
  ],
  ...[
    -0x7fffffff, 0x40000000, 0x55555555, 0x2aaaaaaa, -0x55555555, 0x00ff00ff, 0x12345678, -0x12345678, 1000,
    -1000,
  ],
]

/** Mulberry32 (Tommy Ettinger, 2017): 32 random bits per call. */
function randomBits(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }
}

/** FNV-1a of a name, so that buffers differ. */
function seedOf(name: string): number {
  let hash = 0x811c9dc5
  for (const c of name) hash = Math.imul(hash ^ c.charCodeAt(0), 0x01000193)
  return hash >>> 0
}

function valueMaker({ name, scalar, fill, args }: KernelBuffer): (i: number) => number {
  const float = scalar === 'f32' || scalar === 'f16'
  const bits = randomBits(seedOf(name))
  switch (fill) {
    case 'zero':
      return () => 0
    case 'iota': {
      const [start = 0, step = 1] = args
      return (i) => start + i * step
    }
    case 'values':
      return (i) => args[i % args.length]!
    case 'special': {
      const list = float ? specialFloats : specialIntegers
      return (i) => list[(i + Math.floor(i / list.length) * 7) % list.length]!
    }
    case 'random': {
      if (float) {
        const [low = -8, high = 8] = args
        return () => low + (bits() / 2 ** 32) * (high - low)
      }
      if (args.length === 0) return () => bits() | 0
      const [low, high] = args as [number, number]
      return () => low + (bits() % (high - low + 1))
    }
  }
}

/** The contents of a buffer before the kernel runs; the same on every machine. */
export function fillBuffer(buffer: KernelBuffer): Uint8Array<ArrayBuffer> {
  const make = valueMaker(buffer)
  const width = buffer.scalar === 'f16' ? 2 : 4
  const bytes = new Uint8Array(Math.ceil((buffer.count * width) / 4) * 4)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < buffer.count; i++) {
    const value = make(i)
    if (buffer.scalar === 'f32') view.setFloat32(i * 4, value, true)
    else if (buffer.scalar === 'f16') view.setUint16(i * 2, halfBits(value), true)
    else view.setUint32(i * 4, value >>> 0, true)
  }
  return bytes
}

/** The scalars in a buffer's bytes. */
export function readBuffer(buffer: KernelBuffer, bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: buffer.count }, (_, i) => {
    switch (buffer.scalar) {
      case 'f32':
        return view.getFloat32(i * 4, true)
      case 'f16':
        return halfValue(view.getUint16(i * 2, true))
      case 'i32':
        return view.getInt32(i * 4, true)
      default:
        return view.getUint32(i * 4, true)
    }
  })
}
