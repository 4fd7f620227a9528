import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

/**
 * PTX of kernels compiled ahead of time, by `shippedKernelKey` of their CUDA source. Used if NVRTC is
 * missing.
 */
export type ShippedKernels = (key: string) => string | undefined

/**
 * The first architecture for which the same text compiles to different code: sm_80 has asynchronous copies.
 */
const laterArchitecture = 80

/**
 * The key of a translated kernel: the SHA-256 of its CUDA C++, with `@80` appended if the PTX is for sm_80
 * and later.
 */
export function shippedKernelKey(source: string, later = false): string {
  return createHash('sha256').update(source).digest('hex') + (later ? `@${laterArchitecture}` : '')
}

/** The PTX for a GPU of `architecture`, for example `sm_90`. */
export function shippedPtx(
  kernels: ShippedKernels | undefined,
  source: string,
  architecture: string,
): string | undefined {
  const number = Number(/\d+/.exec(architecture)?.[0] ?? 0)
  const later = number >= laterArchitecture ? kernels?.(shippedKernelKey(source, true)) : undefined
  return later ?? kernels?.(shippedKernelKey(source))
}

let packaged: Readonly<Record<string, string>> | undefined

/** The kernels that tools/ship-kernels puts into this package; none in a clone in which it has not run. */
export const packagedKernels: ShippedKernels = (key) => {
  packaged ??= readPackaged()
  return packaged[key]
}

function readPackaged(): Readonly<Record<string, string>> {
  let file: Buffer
  try {
    // Bundlers would follow `new URL('…', import.meta.url)`, but a clone or a test package does not have this
    // file.
    file = readFileSync(join(dirname(fileURLToPath(import.meta.url)), '../prebuilds/kernels.json.gz'))
  } catch {
    return {}
  }
  return JSON.parse(gunzipSync(file).toString('utf8')) as Record<string, string>
}
