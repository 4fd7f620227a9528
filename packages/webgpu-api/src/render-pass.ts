import { ApiObject, type ObjectState } from './api-object.ts'
import type { EncoderState } from './encoder-state.ts'
import { nameInterface } from './interfaces.ts'

export interface RenderPassState extends ObjectState {
  readonly encoder: EncoderState
}

/**
 * Rendering is not supported: beginning a render pass makes the encoder invalid, and `end` is its only
 * method.
 */
export class GPURenderPassEncoder extends ApiObject<RenderPassState> {
  readonly #own: RenderPassState

  constructor(token: unknown, state: RenderPassState, label: string) {
    super(token, state, label)
    this.#own = state
  }

  end(): undefined {
    const { device, encoder } = this.#own
    if (encoder.phase === 'locked' && encoder.pass === this.#own) {
      encoder.phase = 'open'
      encoder.pass = undefined
    } else device.invalid('end: the pass has ended.')
    return undefined
  }
}
nameInterface(GPURenderPassEncoder)
