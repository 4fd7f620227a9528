import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** PTX of kernels compiled ahead of time, by `shippedKernelKey` of their CUDA source. Used where NVRTC is missing. */
export type ShippedKernels = (key: string) => string | undefined

/** Names a translated kernel: the SHA-256 of its CUDA C++. */
export function shippedKernelKey(source: string): string {
  return createHash('sha256').update(source).digest('hex')
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
    file = readFileSync(new URL('../prebuilds/kernels.json.gz', import.meta.url))
  } catch {
    return {}
  }
  return JSON.parse(gunzipSync(file).toString('utf8')) as Record<string, string>
}
