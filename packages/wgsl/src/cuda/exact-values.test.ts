import { expect, it } from 'vitest'
import { buildCpuProgram } from './testing/cpu-program.ts'
import { cpuJob, hasProgram, kernelCase, referenceRun, translate } from './testing/kernel-cases.ts'

/**
 * The values of u32 expressions in a kernel, from the reference executor and as C++ on the CPU. `zero` is a 0
 * that is unknown to the compiler.
 */
async function runBoth(values: readonly string[]): Promise<{ reference: Uint32Array; cpu: Uint32Array }> {
  const c = kernelCase(
    'exact values',
    `// run: workgroups=1,1,1
// buffer out: u32[${values.length}]
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main() {
let zero = out[0];
${values.map((value, i) => `out[${i}] = ${value};`).join('\n')}
}`,
  )
  const kernel = translate(c, 'clamp')
  const [result] = await (await buildCpuProgram([kernel])).run([cpuJob(c, kernel, 0)])
  if (result === undefined || 'failure' in result) throw new Error(result?.failure ?? 'no result')
  const words = (bytes: Uint8Array) => new Uint32Array(bytes.slice().buffer)
  return { reference: words(referenceRun(c)[0]!), cpu: words(result.buffers[0]!) }
}

const hasCompiler = hasProgram('g++')
const needsCompiler = hasCompiler ? '' : ' (needs g++)'

it.skipIf(!hasCompiler)(
  `a decimal that a double rounds to the middle of two f32 stands for the same f32 in C++${needsCompiler}`,
  async () => {
    const literals = ['7.038531e-26f', '-7.038531e-26f', '4.1358804e34f', '0.1f', '16777217f', '1e-45f']
    const { reference, cpu } = await runBoth(
      literals.map((text) => `bitcast<u32>(select(${text}, 0f, zero != 0u))`),
    )
    expect(cpu).toEqual(reference)
    expect(reference[0]).toBe(0x15ae43fe)
  },
)

it.skipIf(!hasCompiler)(`packing rounds as exact arithmetic does${needsCompiler}`, async () => {
  const around = (middle: number) => [-1, 0, 1].map((d) => `bitcast<f32>(${bits(middle) + d}u + zero)`)
  const middles = (most: number, values: readonly number[]) => values.map((k) => (k + 0.5) / most)
  const values = [
    ...middles(127, [0, 1, 7, 63, 100, 126]).flatMap((m) =>
      around(m).map((x) => `pack4x8snorm(vec4f(${x}, -${x}, 0, 1))`),
    ),
    ...middles(255, [0, 1, 7, 63, 127, 200, 254]).flatMap((m) =>
      around(m).map((x) => `pack4x8unorm(vec4f(${x}, 1, 0, ${x}))`),
    ),
    ...middles(32767, [0, 1, 300, 20000, 32766]).flatMap((m) =>
      around(m).map((x) => `pack2x16snorm(vec2f(${x}, -${x}))`),
    ),
    ...middles(65535, [0, 1, 300, 32767, 50000, 65534]).flatMap((m) =>
      around(m).map((x) => `pack2x16unorm(vec2f(${x}, 1))`),
    ),
  ]
  const { reference, cpu } = await runBoth(values)
  expect(cpu).toEqual(reference)
})

it.skipIf(!hasCompiler)(`rounding and signs of zeros agree${needsCompiler}`, async () => {
  const values = ['-0.25', '-0.5', '0.25', '0.5', '-0.0', '1.5', '-2.5'].map(
    (x) => `bitcast<f32>(bitcast<u32>(${x}f) + zero)`,
  )
  const functions = ['round', 'sign', 'ceil', 'trunc']
  const { reference, cpu } = await runBoth(
    functions.flatMap((f) => values.map((x) => `bitcast<u32>(${f}(${x}))`)),
  )
  expect(cpu).toEqual(reference)
})

function bits(value: number): number {
  return new Uint32Array(Float32Array.of(value).buffer)[0]!
}
