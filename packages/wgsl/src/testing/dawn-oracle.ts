/** What Dawn's compiler, Tint, says of a source: its errors as `line:column message`; none when it accepts. */
export type DawnOracle = (source: string) => Promise<string[]>

/** Opens Dawn's null backend, which compiles with no GPU; undefined when npm `webgpu` is not installed. */
export async function openDawnOracle(): Promise<DawnOracle | undefined> {
  let webgpu: typeof import('webgpu')
  try {
    webgpu = await import('webgpu')
  } catch {
    return undefined
  }
  const gpu = webgpu.create(['backend=null', 'enable-dawn-features=allow_unsafe_apis'])
  const adapter = await gpu.requestAdapter()
  if (adapter === null) return undefined
  const wanted = ['shader-f16', 'subgroups', 'subgroup-size-control', 'atomic-vec2u-min-max'] as const
  // The types of WebGPU do not name all of them yet.
  const requiredFeatures = (wanted as readonly string[] as readonly GPUFeatureName[]).filter((f) =>
    adapter.features.has(f),
  )
  const device = await adapter.requestDevice({ requiredFeatures })
  const oracle: DawnOracle = async (source) => {
    device.pushErrorScope('validation')
    const module = device.createShaderModule({ code: source })
    const info = await module.getCompilationInfo()
    await device.popErrorScope()
    return info.messages
      .filter((m) => m.type === 'error')
      .map((m) => `${m.lineNum}:${m.linePos} ${m.message}`)
  }
  // Dawn's objects crash the process when they are collected while a device lives.
  return Object.assign(oracle, { keep: [gpu, adapter, device] })
}
