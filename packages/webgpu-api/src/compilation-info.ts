import { nameInterface, requireCreation } from './interfaces.ts'

/**
 * The content of a GPUCompilationMessage. Positions count UTF-16 code units; lines and columns start at 1.
 */
export interface CompilationMessage {
  readonly message: string
  readonly type: 'error' | 'warning' | 'info'
  readonly lineNum: number
  readonly linePos: number
  readonly offset: number
  readonly length: number
}

export class GPUCompilationMessage implements CompilationMessage {
  readonly #content: CompilationMessage

  constructor(token: unknown, content: CompilationMessage) {
    requireCreation(token)
    this.#content = content
  }

  get message(): string {
    return this.#content.message
  }

  get type(): 'error' | 'warning' | 'info' {
    return this.#content.type
  }

  get lineNum(): number {
    return this.#content.lineNum
  }

  get linePos(): number {
    return this.#content.linePos
  }

  get offset(): number {
    return this.#content.offset
  }

  get length(): number {
    return this.#content.length
  }
}

export class GPUCompilationInfo {
  readonly #messages: readonly GPUCompilationMessage[]

  constructor(token: unknown, messages: readonly GPUCompilationMessage[]) {
    requireCreation(token)
    this.#messages = Object.freeze([...messages])
  }

  get messages(): readonly GPUCompilationMessage[] {
    return this.#messages
  }
}

nameInterface(GPUCompilationMessage)
nameInterface(GPUCompilationInfo)
