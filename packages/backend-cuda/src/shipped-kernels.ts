import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

/**
 * PTX of kernels compiled ahead of time, by `shippedKernelKey` of their CUDA source. Used where NVRTC is
 * missing.
 */
export type ShippedKernels = (key: string) => string | undefined

/** The architecture from which on the same text compiles to other code: sm_80 has asynchronous copies. */
const laterArchitecture = 80

/** Names a translated kernel: the SHA-256 of its CUDA C++, and `@80` where the PTX is for sm_80 and later. */
export function shippedKernelKey(source: string, later = false): string {
  return createHash('sha256').update(source).digest('hex') + (later ? `@${laterArchitecture}` : '')
}

/** The PTX for a GPU of `architecture`, `sm_90` for instance. */
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

/** The kernels that tools/ship-kernels put into this package; none in a clone where it has not run. */
export const packagedKernels: ShippedKernels = (key) => {
  packaged ??= readPackaged()
  return packaged[key]
}

function readPackaged(): Readonly<Record<string, string>> {
  let file: Buffer
  try {
    // Not `new URL('…', import.meta.url)`, which bundlers follow: a clone and a test package have no such
    // file.
    file = readFileSync(join(dirname(fileURLToPath(import.meta.url)), '../prebuilds/kernels.json.gz'))
  } catch {
    return {}
  }
  return JSON.parse(gunzipSync(file).toString('utf8')) as Record<string, string>
}
