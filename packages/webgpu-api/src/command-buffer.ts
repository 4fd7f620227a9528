import { ApiObject, type ObjectState } from './api-object.ts'
import type { Recorded } from './encoder-state.ts'
import { nameInterface } from './interfaces.ts'

export interface CommandBufferState extends ObjectState {
  /** Undefined after the submit, and for a command buffer that was never valid. */
  recorded: Recorded | undefined
}

export class GPUCommandBuffer extends ApiObject<CommandBufferState> {}
nameInterface(GPUCommandBuffer)
