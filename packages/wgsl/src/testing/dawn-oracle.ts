/**
 * The result of Dawn's compiler, Tint, for a source: its errors as `line:column message`, or none if it
 * accepts the source. With `entryPoint`, a valid module must also make a pipeline, with `constants` for its
 * overrides; an error of the pipeline begins with `pipeline`.
 */
export type DawnOracle = (
  source: string,
  entryPoint?: string,
  constants?: Readonly<Record<string, number>>,
) => Promise<string[]>

/**
 * The key under which the process keeps its oracle. Test files that run in one process share it, even if
 * their modules are loaded again.
 */
const kept = Symbol.for('tandem.dawn-oracle')
const place = globalThis as { [kept]?: Promise<DawnOracle | undefined> }

/**
 * Dawn's null backend, which compiles without a GPU; undefined if npm `webgpu` is not installed. It is opened
 * once and never released: if a device outlives the `GPU` that it came from, or is collected while it still
 * has work, the process crashes (SIGSEGV).
 */
export function openDawnOracle(): Promise<DawnOracle | undefined> {
  place[kept] ??= open()
  return place[kept]
}

async function open(): Promise<DawnOracle | undefined> {
  let webgpu: typeof import('webgpu')
  try {
    webgpu = await import('webgpu')
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
  const gpu = webgpu.create(['backend=null', 'enable-dawn-features=allow_unsafe_apis'])
  const adapter = await gpu.requestAdapter()
  if (adapter === null) throw new Error("Dawn's null backend has no adapter")
  const wanted = [
    ...(['shader-f16', 'subgroups', 'subgroup-size-control', 'atomic-vec2u-min-max'] as const),
    ...(['clip-distances', 'dual-source-blending', 'primitive-index'] as const),
    'chromium-experimental-subgroup-matrix',
  ] as const
  // The types of WebGPU do not have all of them yet.
  const requiredFeatures = (wanted as readonly string[] as readonly GPUFeatureName[]).filter((f) =>
    adapter.features.has(f),
  )
  // The device's limits are raised as far as possible, because they are not limits of the compiler.
  const { maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup } = adapter.limits
  const { maxComputeWorkgroupSizeX, maxComputeWorkgroupSizeY, maxComputeWorkgroupSizeZ } = adapter.limits
  const requiredLimits = {
    maxComputeWorkgroupStorageSize,
    maxComputeInvocationsPerWorkgroup,
    maxComputeWorkgroupSizeX,
    maxComputeWorkgroupSizeY,
    maxComputeWorkgroupSizeZ,
  }
  const device = await adapter.requestDevice({ requiredFeatures, requiredLimits })
  const oracle: DawnOracle = async (source, entryPoint, constants = {}) => {
    device.pushErrorScope('validation')
    const module = device.createShaderModule({ code: source })
    const info = await module.getCompilationInfo()
    await device.popErrorScope()
    const errors = info.messages
      .filter((m) => m.type === 'error')
      .map((m) => `${m.lineNum}:${m.linePos} ${m.message}`)
    if (errors.length > 0 || entryPoint === undefined) return errors
    try {
      await device.createComputePipelineAsync({ layout: 'auto', compute: { module, entryPoint, constants } })
      return []
    } catch (error) {
      return [`pipeline ${(error as Error).message}`]
    }
  }
  return Object.assign(oracle, { keep: [gpu, adapter, device] })
}
