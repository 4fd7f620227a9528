import { ApiObject, type ObjectState } from './api-object.ts'
import type { Recorded } from './encoder-state.ts'
import { nameInterface } from './interfaces.ts'

export interface CommandBufferState extends ObjectState {
  /** Absent once it is submitted, and where it was never valid. */
  recorded: Recorded | undefined
}

export class GPUCommandBuffer extends ApiObject<CommandBufferState> {}
nameInterface(GPUCommandBuffer)
