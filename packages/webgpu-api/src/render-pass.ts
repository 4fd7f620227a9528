import { ApiObject, type ObjectState, stateOf } from './api-object.ts'
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
  end(): undefined {
    const { device, encoder } = stateOf(this)
    if (encoder.phase === 'locked' && encoder.pass === stateOf(this)) {
      encoder.phase = 'open'
      encoder.pass = undefined
    } else device.invalid('end: the pass has ended.')
    return undefined
  }
}
nameInterface(GPURenderPassEncoder)
