/** A kernel of the corpus, with a header that says how to run it. */
export interface TestKernel {
  readonly name: string
  readonly source: string
}

export type Scalar = 'f32' | 'f16' | 'i32' | 'u32'

/** An input of a kernel: scalars or vectors of `n` components, and how its buffer is filled. */
export interface Input {
  readonly scalar: Scalar
  readonly n: number
  readonly fill: string
}

const threads = 32

const suffix = (scalar: Scalar) => (scalar[0] === 'f' ? (scalar === 'f16' ? 'h' : 'f') : scalar[0]!)

/** The WGSL type of `n` components. */
export function typeOf(scalar: string, n: number): string {
  if (n === 1) return scalar
  return scalar === 'bool' ? `vec${n}<bool>` : `vec${n}${suffix(scalar as Scalar)}`
}

/** The number of scalars per element of an array, including padding. */
export function slots(n: number): number {
  return n === 3 ? 4 : n
}

/** An input of f32. */
export function floats(n: number, fill = 'random(-1, 1)'): Input {
  return { scalar: 'f32', n, fill }
}

export function kernel(name: string, source: string): TestKernel {
  return { name, source }
}

/**
 * A kernel in which thread i stores the value of `expression` for elements i of the inputs, named a, b, c.
 */
export function elementwise(
  name: string,
  inputs: readonly Input[],
  output: { readonly scalar: Scalar; readonly n: number },
  expression: string,
  tolerance = 'exact',
): TestKernel {
  const half = [...inputs, output].some((v) => v.scalar === 'f16')
  const names = inputs.map((_, i) => `in${i}`)
  const header = [
    `// run: workgroups=1,1,1 tolerance=${tolerance}`,
    ...inputs.map((v, i) => `// buffer ${names[i]}: ${v.scalar}[${threads * slots(v.n)}] ${v.fill}`),
    `// buffer out: ${output.scalar}[${threads * slots(output.n)}]`,
  ]
  const variables = [
    ...inputs.map(
      (v, i) => `@group(0) @binding(${i}) var<storage, read> ${names[i]}: array<${typeOf(v.scalar, v.n)}>;`,
    ),
    `@group(0) @binding(${inputs.length}) var<storage, read_write> out: array<${typeOf(output.scalar, output.n)}>;`,
  ]
  const lets = inputs.map((_, i) => `  let ${'abcd'[i]} = ${names[i]}[i];`)
  return kernel(
    name,
    `${header.join('\n')}
${half ? 'enable f16;\n' : ''}
${variables.join('\n')}

@compute @workgroup_size(${threads})
fn main(@builtin(local_invocation_index) i: u32) {
${lets.join('\n')}
  out[i] = ${expression};
}
`,
  )
}
