import { describe, expect, it } from 'vitest'
import { compareBuffers } from '../testing/index.ts'
import { buildCpuProgram } from './testing/cpu-program.ts'
import { cpuJob, hasProgram, kernelCase, referenceRun, translate } from './testing/kernel-cases.ts'

/**
 * Computes row sums of two tiles of 64 × 4 elements; one tile is copied while the other is summed. Each
 * statement is either in `main` or in one of the functions after it.
 */
function sums(main: string, functions: string) {
  const source = `// run: workgroups=2,1,1
// buffer a: u32[4096] random
// buffer size: u32[4] values(8, 0, 0, 0)
// buffer out: u32[512]
@group(0) @binding(0) var<storage, read> a: array<vec4u>;
@group(0) @binding(1) var<uniform> size: vec4u;
@group(0) @binding(2) var<storage, read_write> out: array<vec4u>;
var<workgroup> even: array<vec4u, 256>;
var<workgroup> odd: array<vec4u, 256>;
${functions}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) id: vec3u) {
  var sum = vec4u();
${main}
  out[group.x * 64u + id.x] = sum;
}`
  const found = kernelCase('sums', source)
  const kernel = translate(found, 'clamp')
  const text = kernel.parts.body
  return {
    kernelCase: found,
    kernel,
    /** The arrays that asynchronous copies write, and those that assignments write. */
    asynchronous: new Set([...text.matchAll(/async_copy\((\w+)_\[/g)].map(([, name]) => name)),
    plain: new Set([...text.matchAll(/(even|odd)_\[[^=;]*\] = /g)].map(([, name]) => name)),
    waits: text.split('async_wait();').length - 1,
  }
}

const fetch = (tile: string, k: string) =>
  `for (var i = 0u; i < 4u; i++) { ${tile}[id.x + i * 64u] = a[${k} * 128u + ((id.x + i * 64u) & 127u)]; }`
const add = (tile: string) =>
  `for (var i = 0u; i < 4u; i++) { sum = sum * 3u + ${tile}[(id.x * 4u + i * 7u) & 255u]; }`

const inMainText = `  ${fetch('even', '0u')}
  workgroupBarrier();
  for (var k = 0u; k < size.x; k += 2u) {
    ${fetch('odd', '(k + 1u)')}
    ${add('even')}
    workgroupBarrier();
    ${fetch('even', '(k + 2u)')}
    ${add('odd')}
    workgroupBarrier();
  }`
const inMain = sums(inMainText, '')

const main = `  fetch(&even, id, 0u);
  meet();
  for (var k = 0u; k < size.x; k += 2u) {
    fetch(&odd, id, k + 1u);
    sum = added(&even, id, sum);
    meet();
    fetch(&even, id, k + 2u);
    sum = added(&odd, id, sum);
    meet();
  }`
const added = `fn added(tile: ptr<workgroup, array<vec4u, 256>>, id: vec3u, before: vec4u) -> vec4u {
  var sum = before;
  ${add('tile')}
  return sum;
}`
const meet = 'fn meet() { workgroupBarrier(); }'

const inFunctions = sums(
  main,
  `fn fetch(tile: ptr<workgroup, array<vec4u, 256>>, id: vec3u, k: u32) { ${fetch('tile', 'k')} }\n${added}\n${meet}`,
)

/** Only the sums are in a function: over the tile that is not being copied, and over the one that is. */
const [inAdded, inWrong] = ['even', 'odd'].map((first) =>
  sums(inMainText.replace(add('even'), `sum = added(&${first}, id, sum);`), added),
)
/** The copying function also reads the invocation's own element before any barrier. */
const readBack = sums(
  main.replaceAll('fetch(', 'sum += fetch('),
  `fn fetch(tile: ptr<workgroup, array<vec4u, 256>>, id: vec3u, k: u32) -> vec4u { ${fetch('tile', 'k')} return tile[id.x]; }\n${added}\n${meet}`,
)

describe('a kernel with two tiles', () => {
  it('copies asynchronously in main', () => {
    expect(inMain).toMatchObject({ asynchronous: new Set(['even', 'odd']), plain: new Set(), waits: 3 })
  })

  it('copies at once if the loads and the barrier are in functions that also read the tile before the barrier', () => {
    const plain = { asynchronous: new Set(), plain: new Set(['even', 'odd']), waits: 0 }
    expect(inFunctions).toMatchObject(plain)
    expect(readBack).toMatchObject(plain)
  })

  it('keeps copies pending across functions that access other memory, but not across those that access the tile', () => {
    expect(inAdded).toMatchObject({ asynchronous: new Set(['even', 'odd']), plain: new Set(), waits: 3 })
    expect(inWrong).toMatchObject({ asynchronous: new Set(), plain: new Set(['even', 'odd']), waits: 0 })
  })

  it.skipIf(!hasProgram('g++'))(
    'has the results of the reference executor on the CPU (needs g++)',
    async () => {
      const all = [inMain, inFunctions, inAdded!, readBack]
      const program = await buildCpuProgram(all.map(({ kernel }) => kernel))
      const results = await program.run(all.map(({ kernelCase, kernel }, i) => cpuJob(kernelCase, kernel, i)))
      const outputs: Uint8Array[] = []
      for (const [k, result] of results.entries()) {
        if ('failure' in result) throw new Error(result.failure)
        const { inputs, test } = all[k]!.kernelCase
        const i = inputs.findIndex(({ binding }) => binding.name === 'out')
        const expected = referenceRun(all[k]!.kernelCase)[i]!
        expect(
          compareBuffers(inputs[i]!.buffer!, result.buffers[i]!, expected, test.tolerance),
        ).toBeUndefined()
        outputs.push(result.buffers[i]!)
      }
      expect(outputs[1]).toEqual(outputs[0])
      expect(outputs[2]).toEqual(outputs[0])
      expect(outputs[3]).not.toEqual(outputs[0])
    },
  )
})
