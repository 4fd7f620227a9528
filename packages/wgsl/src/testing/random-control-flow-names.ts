/** A name that statements can read or change. */
export interface Variable {
  readonly name: string
  readonly type: 'u32' | 'vec3u' | 'array<u32, 4>' | 'Pair'
  /**
   * `let` is a value; `pointer` points to a u32 of a variable; `constant-pointer` may only be read through.
   */
  readonly kind: 'var' | 'let' | 'pointer' | 'constant-pointer'
  /** In storage, without a value as a whole. */
  readonly isStorage?: true
}

/** A function of the module, with the data that calls of it need. */
export interface FunctionShape {
  readonly name: string
  readonly parameters: readonly string[]
  readonly returns: boolean
}

/** The types of parameters; types that occur several times are chosen more often. */
export const parameterTypes = [
  ...[
    'u32',
    'u32',
    'ptr<function, u32>',
    'ptr<function, array<u32, 4>>',
    'ptr<storage, array<u32>, read_write>',
  ],
  ...['ptr<storage, u32, read>', 'ptr<storage, u32, read_write>', 'ptr<workgroup, u32>', 'ptr<private, u32>'],
  ...['ptr<uniform, vec4u>', 'ptr<function, Pair>'],
] as const
