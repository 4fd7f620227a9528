import { ApiObject, isObject, type ObjectState, toObject } from './api-object.ts'
import { type CompilationMessage, GPUCompilationInfo, GPUCompilationMessage } from './compilation-info.ts'
import type { DeviceState } from './device-state.ts'
import { featureOfExtension } from './features.ts'
import { creation, nameInterface } from './interfaces.ts'
import { GPUPipelineLayout } from './pipeline-layout.ts'
import { ShaderSource } from './shader-source.ts'
import { labelOf, member, required, toDictionary, toEnum, toSequence, toText } from './webidl.ts'

export interface ShaderModuleState extends ObjectState {
  readonly source: ShaderSource
  readonly messages: readonly CompilationMessage[]
}

export class GPUShaderModule extends ApiObject<ShaderModuleState> {
  readonly #own: ShaderModuleState

  constructor(token: unknown, state: ShaderModuleState, label: string) {
    super(token, state, label)
    this.#own = state
  }

  async getCompilationInfo(): Promise<GPUCompilationInfo> {
    const { device } = this.#own
    const messages = device.isLost ? [] : this.#own.messages
    return new GPUCompilationInfo(
      creation,
      messages.map((message) => new GPUCompilationMessage(creation, message)),
    )
  }
}
nameInterface(GPUShaderModule)

/**
 * Checked sources, by text, because libraries create the same module repeatedly. The oldest entry is evicted
 * first.
 */
const sources = new Map<string, ShaderSource>()
const mostSources = 256

export function createShaderModule(device: DeviceState, given: unknown): GPUShaderModule {
  const what = 'the descriptor of createShaderModule'
  const descriptor = toDictionary(given, what)
  const label = labelOf(descriptor)
  const code = toText(required(descriptor, 'code', what))
  member(descriptor, 'compilationHints', undefined, checkHints)
  let source = sources.get(code)
  if (source === undefined) {
    source = new ShaderSource(code, device.channel.frontEndCache)
    sources.set(code, source)
    if (sources.size > mostSources) sources.delete(sources.keys().next().value!)
  }
  const missing = missingFeature(source, device.features)
  const problem = source.problem ?? missing
  if (problem !== undefined) device.invalid(`createShaderModule: ${problem}`)
  const messages = missing === undefined ? source.messages : [errorOf(missing), ...source.messages]
  return new GPUShaderModule(creation, { device, valid: problem === undefined, source, messages }, label)
}

/** An error of a whole module. */
function errorOf(message: string): CompilationMessage {
  return { message, type: 'error', lineNum: 0, linePos: 0, offset: 0, length: 0 }
}

/** Validates hints and otherwise ignores them: kernels are compiled when their pipelines are created. */
function checkHints(hints: unknown): undefined {
  toSequence(
    hints,
    (item) => {
      const hint = toDictionary(item, 'A compilation hint')
      toText(required(hint, 'entryPoint', 'a compilation hint'))
      const { layout } = hint
      if (layout !== undefined && !isObject(layout, GPUPipelineLayout)) {
        if (typeof layout === 'object' && layout !== null) toObject(layout, GPUPipelineLayout, 'layout')
        toEnum(layout, ['auto'], 'layout')
      }
    },
    'compilationHints',
  )
  return undefined
}

function missingFeature({ extensions }: ShaderSource, available: ReadonlySet<string>): string | undefined {
  for (const extension of extensions) {
    const feature = featureOfExtension[extension]
    if (feature !== undefined && !available.has(feature))
      return `'enable ${extension}' needs the feature '${feature}', which the device does not have.`
  }
  return undefined
}
