/** The scalars of a test buffer. */
export type BufferScalar = 'f32' | 'f16' | 'i32' | 'u32'

/** A buffer of a test kernel: `count` scalars, filled by `fill(args)`. */
export interface KernelBuffer {
  /** The name of the WGSL variable. */
  readonly name: string
  readonly scalar: BufferScalar
  readonly count: number
  readonly fill: 'zero' | 'random' | 'iota' | 'values' | 'special'
  readonly args: readonly number[]
}

/** The allowed difference between results; a value passes if any of the three conditions holds. */
export interface Tolerance {
  readonly ulp: number
  readonly absolute: number
  readonly relative: number
}

/**
 * How to run a kernel of the corpus and what to compare, as given in its header comments (see
 * testdata/README.md).
 */
export interface KernelTest {
  readonly workgroups: readonly [number, number, number]
  readonly entryPoint: string | undefined
  readonly constants: Readonly<Record<string, number>>
  readonly tolerance: Tolerance
  readonly buffers: readonly KernelBuffer[]
}

const exact: Tolerance = { ulp: 0, absolute: 0, relative: 0 }

/** Reads the header of a test kernel; throws if it is malformed. */
export function parseKernelTest(source: string): KernelTest {
  let workgroups: KernelTest['workgroups'] | undefined
  let entryPoint: string | undefined
  let tolerance = exact
  const constants: Record<string, number> = {}
  const buffers: KernelBuffer[] = []
  for (const line of source.split('\n')) {
    const run = /^\/\/ run: (.*)$/.exec(line)
    const buffer = /^\/\/ buffer (\w+): (f32|f16|i32|u32)\[(\d+)\](?: (\w+)(?:\((.*)\))?)?$/.exec(line)
    if (buffer !== null) {
      const [, name, scalar, count, fill = 'zero', args = ''] = buffer
      buffers.push({
        name: name!,
        scalar: scalar as BufferScalar,
        count: Number(count),
        fill: checkFill(fill, line),
        args: args === '' ? [] : args.split(',').map((a) => number(a, line)),
      })
    } else if (run !== null) {
      for (const item of run[1]!.trim().split(/\s+/)) {
        const [key, value = ''] = item.split('=') as [string, string?]
        if (key === 'workgroups')
          workgroups = value.split(',').map((n) => number(n, line)) as [number, number, number]
        else if (key === 'entry') entryPoint = value
        else if (key === 'tolerance') tolerance = parseTolerance(value, line)
        else if (key === 'constants') {
          for (const pair of value.split(','))
            constants[pair.split(':')[0]!] = number(pair.split(':')[1] ?? '', line)
        } else throw new SyntaxError(`unknown key '${key}' in '${line}'`)
      }
    } else if (/^\/\/ (run|buffer)/.test(line)) throw new SyntaxError(`malformed header line '${line}'`)
  }
  if (workgroups?.length !== 3) throw new SyntaxError('the header needs workgroups=x,y,z')
  return { workgroups, entryPoint, constants, tolerance, buffers }
}

function number(text: string, line: string): number {
  const value = Number(text.trim())
  if (text.trim() === '' || Number.isNaN(value))
    throw new SyntaxError(`'${text}' is not a number in '${line}'`)
  return value
}

function checkFill(fill: string, line: string): KernelBuffer['fill'] {
  if (fill === 'zero' || fill === 'random' || fill === 'iota' || fill === 'values' || fill === 'special')
    return fill
  throw new SyntaxError(`unknown fill '${fill}' in '${line}'`)
}

function parseTolerance(text: string, line: string): Tolerance {
  if (text === 'exact') return exact
  const tolerance = { ...exact }
  for (const part of text.split(',')) {
    const [kind, value = ''] = part.split(':') as [string, string?]
    if (kind !== 'ulp' && kind !== 'absolute' && kind !== 'relative')
      throw new SyntaxError(`unknown tolerance in '${line}'`)
    tolerance[kind] = number(value, line)
  }
  return tolerance
}
