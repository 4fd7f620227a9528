/** A scalar of a program that `run({ parameters })` may change without recording again. Made by `Recorder.parameter`. */
export interface Parameter {
  readonly name: string
  readonly type: ParameterType
  readonly initial: number
}

export type ParameterType = 'f32' | 'i32' | 'u32'

/** A parameter with its offsets in the uniform block. */
export class RecordedParameter implements Parameter {
  readonly name: string
  readonly type: ParameterType
  readonly initial: number
  readonly byteOffsets: number[] = []

  constructor(name: string, type: ParameterType, initial: number) {
    this.name = name
    this.type = type
    this.initial = initial
  }
}
