/** A scalar of a program that `run({ parameters })` may change without recording again. Made by `Recorder.parameter`. */
export interface Parameter {
  readonly name: string
  readonly type: ParameterType
  readonly initial: number
}

export type ParameterType = 'f32' | 'i32' | 'u32'
