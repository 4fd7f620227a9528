import type { Absence } from '@tandem-gpu/core'
import type { WebGpuOptions } from './options.ts'

/**
 * A source of adapters. Each device needs a new request, because a `GPUAdapter` can create only one device.
 */
export interface GpuSource {
  readonly gpu: GPU
  readonly request: GPURequestAdapterOptions
}

/**
 * The adapters that a platform found, in order of preference: hardware or, if `software` allows it, adapters
 * on the CPU.
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
 * The distinct adapters of `gpu` that WebGPU exposes: one for high performance, one for low power and one
 * fallback. At most two GPUs of a machine are therefore visible.
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

/** Applies `options.software` to the adapters of one `GPU` object. */
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
