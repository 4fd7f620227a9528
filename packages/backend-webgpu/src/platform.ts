import type { Absence } from '@tandem-gpu/core'
import type { WebGpuOptions } from './options.ts'

/** One place to request adapters from. Requests are repeated: a `GPUAdapter` makes one device only. */
export interface GpuSource {
  readonly gpu: GPU
  readonly request: GPURequestAdapterOptions
}

/**
 * What a platform found, in order of preference: the hardware, or, where `software` allows, adapters on the
 * CPU.
 */
export interface PlatformReport {
  readonly sources: readonly GpuSource[]
  /** Set exactly when `sources` is empty. */
  readonly absence?: Absence
  readonly notes: readonly string[]
}

/** Where WebGPU comes from: Dawn in Node, `navigator.gpu` in browsers. */
export type Platform = (options: WebGpuOptions) => Promise<PlatformReport>

/** True for adapters that compute on the CPU: SwiftShader, lavapipe, WARP. */
export function isSoftware(info: GPUAdapterInfo): boolean {
  return (
    info.isFallbackAdapter ||
    /swiftshader|llvmpipe|lavapipe|basic render/i.test(
      `${info.architecture} ${info.device} ${info.description}`,
    )
  )
}

const requests: readonly GPURequestAdapterOptions[] = [
  { powerPreference: 'high-performance' },
  { powerPreference: 'low-power' },
  { forceFallbackAdapter: true },
]

/**
 * The distinct adapters of `gpu` as far as WebGPU shows them: it names one for performance, one for low power
 * and one that is a fallback, so at most two GPUs of a machine are seen.
 */
export async function findSources(gpu: GPU): Promise<{ hardware: GpuSource[]; software: GpuSource[] }> {
  const hardware: GpuSource[] = []
  const software: GpuSource[] = []
  const seen = new Set<string>()
  for (const request of requests) {
    const adapter = await gpu.requestAdapter(request)
    if (adapter === null) continue
    const { vendor, architecture, device, description } = adapter.info
    const identity = [vendor, architecture, device, description].join('\n')
    if (seen.has(identity)) continue
    seen.add(identity)
    const source = { gpu, request }
    if (isSoftware(adapter.info)) software.push(source)
    else hardware.push(source)
  }
  return { hardware, software }
}

/** Applies `options.software` to what one `GPU` object offers. */
export function chooseSources(
  found: { hardware: readonly GpuSource[]; software: readonly GpuSource[] },
  preference: 'prefer' | 'allow' | 'never',
): readonly GpuSource[] {
  const orders = {
    prefer: [found.software, found.hardware],
    allow: [found.hardware, found.software],
    never: [found.hardware],
  }
  return orders[preference].find((sources) => sources.length > 0) ?? []
}
