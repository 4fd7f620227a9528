import { describe, expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { compileReference } from '../reference/index.ts'
import { emitCuda } from './emit-cuda.ts'
import { buildCpuProgram } from './testing/cpu-program.ts'
import { hasProgram } from './testing/kernel-cases.ts'

const elements = 8
/**
 * The length of the workgroup arrays. Two copies past the end would write the last element in either order.
 */
const length = 64

const nestedLoads = 'sum.x += workgroupUniformLoad(&zeros[workgroupUniformLoad(&zeros[0]) + 1u]);'

/**
 * A kernel of one invocation, so that every order of accesses is defined, with copies, reads, writes and
 * barriers in random control flow. Most indices come from a few expressions, so that copies often write the
 * same element. Three out of four kernels use only statements between which copies may be asynchronous, with
 * barriers around most accesses.
 */
function randomCopies(seed: number): string {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0 || 1
  const random = (n: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state % n
  }
  const pick = <T>(items: readonly T[]): T => items[random(items.length)]!
  const keeps = seed % 4 !== 0
  let names = 0
  let statementsLeft = keeps ? 7 : 24
  const tile = () => pick(['x', 'x', 'y'])
  const index = (scope: readonly string[]): string => {
    const value = scope.length === 0 || random(4) === 0 ? `${random(elements)}u` : pick(scope)
    switch (random(6)) {
      case 0:
        return `${value} + ${1 + random(3)}u`
      case 1:
        return `${value} * 2u + ${random(2)}u`
      case 2:
        return `(${value} & 3u) + 4u`
      default:
        return value
    }
  }
  const statement = (scope: readonly string[], depth: number, inLoop: boolean): string => {
    statementsLeft--
    const kind = random(depth > 2 || statementsLeft <= 0 ? 13 : 20)
    if (keeps) {
      const name = `k${names++}`
      const barrier = pick(['workgroupBarrier();', 'storageBarrier();', 'workgroupBarrier();', ''])
      const copy = `${tile()}[${index(scope)}] = a[${index(scope)}];`
      if (kind < 7) return `${copy} ${barrier}`
      if (kind < 8) return barrier
      if (kind < 10)
        return `${pick(['workgroupBarrier();', nestedLoads])} sum = sum * 3u + ${tile()}[${index(scope)}] + peek(); ${barrier}`
      if (kind < 11) return `workgroupBarrier(); ${tile()}[${index(scope)}] = sum; ${barrier}`
      if (kind < 12) return pick(['v += 1u;', 'sum += workgroupUniformLoad(&go);'])
      if (kind < 14) return inLoop ? `if (${index(scope)} == 2u) { ${pick(['break;', 'return;'])} }` : copy
      if (kind < 16) return `if ((${index(scope)}) % 2u == n % 2u) { ${block(scope, depth + 1, inLoop)} }`
      return `for (var ${name} = 0u; ${name} < ${2 + random(3)}u; ${name} += ${1 + random(2)}u) { ${block([...scope, name], depth + 1, true)} }`
    }
    if (kind < 5) return `${tile()}[${index(scope)}] = a[${index(scope)}];`
    if (kind < 6)
      return `${pick(['fetch', 'fetch', 'fetch_some', 'fetch_remainder', 'fetch_further'])}(${index(scope)}, ${index(scope)});`
    if (kind < 9) return pick(['workgroupBarrier();', 'workgroupBarrier();', 'storageBarrier();', 'sync();'])
    if (kind < 10) return `sum = sum * 3u + ${tile()}[${index(scope)}];`
    if (kind < 11) return `${tile()}[${index(scope)}] = sum;`
    if (kind < 12)
      return pick(['v += 1u;', 'v = workgroupUniformLoad(&go).x + 2u;', 'sum += workgroupUniformLoad(&go);'])
    if (kind < 13)
      return inLoop ? `if (${index(scope)} == 2u) { ${pick(['break;', 'continue;'])} }` : 'sum += peek();'
    if (kind < 15)
      return `if ((${index(scope)}) % 2u == n % 2u) { ${block(scope, depth + 1, inLoop)} } else { ${block(scope, depth + 1, inLoop)} }`
    if (kind < 16) {
      const clauses = [0, 1].map((i) => `case ${i}u: { ${block(scope, depth + 1, false)} }`)
      return `switch (${index(scope)}) { ${clauses.join(' ')} default: { ${block(scope, depth + 1, false)} } }`
    }
    const name = `k${names++}`
    if (kind < 19)
      return `for (var ${name} = ${pick(['0u', '0u', 'n'])}; ${name} < ${2 + random(3)}u; ${name} += ${1 + random(2)}u) { ${block([...scope, name], depth + 1, true)} }`
    return `{ var ${name} = 0u; loop { ${block([...scope, name], depth + 1, true)} continuing { ${name}++; ${random(2) === 0 ? `sum += x[${name}];` : 'workgroupBarrier();'} break if ${name} >= 3u; } } }`
  }
  const block = (scope: readonly string[], depth: number, inLoop: boolean): string => {
    const lines: string[] = []
    let inside = scope
    for (let i = 1 + random(4); i > 0; i--) {
      if (random(4) === 0) {
        const name = `k${names++}`
        lines.push(`let ${name} = ${index(inside)};`)
        inside = [...inside, name]
      } else lines.push(statement(inside, depth, inLoop))
    }
    return lines.join('\n')
  }
  const body = Array.from({ length: keeps ? 2 : 5 }, () =>
    block(keeps && seed % 8 !== 1 ? ['n'] : ['n', 'v'], 0, false),
  )
  return `
@group(0) @binding(0) var<storage, read> a: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4u>;
@group(0) @binding(2) var<uniform> n: u32;
var<workgroup> x: array<vec4u, ${length}>;
var<workgroup> y: array<vec4u, ${length}>;
var<workgroup> go: vec4u;
var<workgroup> zeros: array<u32, 2>;
fn fetch(slot: u32, at: u32) { x[slot] = a[at]; x[slot + 1u] = a[at + 1u]; }
fn fetch_some(slot: u32, at: u32) { if (at == 3u) { return; } for (var i = 0u; i < 2u; i++) { y[slot + i * 4u] = a[at]; } }
fn fetch_remainder(slot: u32, at: u32) { x[slot % 4u + 1u] = a[at]; workgroupBarrier(); let s = a[at].x % 4u; y[s] = a[slot]; }
fn fetch_further(slot: u32, at: u32) { for (var i = slot; i < 4u; i += 3u) { fetch(i, at); } fetch(slot + 8u, at); }
fn sync() { workgroupBarrier(); }
fn peek() -> vec4u { return y[1]; }
@compute @workgroup_size(1) fn main() {
var sum = vec4u();
var v = n;
${body.map((b) => `{ ${b} }`).join('\n')}
workgroupBarrier();
for (var i = 0u; i < ${length}u; i++) { out[i] = x[i] + y[i] * 5u; }
out[${length}] = sum;
}`
}

describe.skipIf(!hasProgram('g++'))('random kernels with copies on the CPU (needs g++)', () => {
  it('have the results of the reference executor, however late the copies are', {
    timeout: 600_000,
  }, async () => {
    const seeds = Array.from({ length: 240 }, (_, i) => i + 1)
    const modules = seeds.map((seed) => lower(parseWgsl(randomCopies(seed))))
    const kernels = modules.map((m) => emitCuda(m, { bounds: 'clamp', lineDirectives: false }))
    const input = new Uint8Array(Uint32Array.from({ length: 4 * 64 }, (_, i) => i * 2654435761).buffer)
    const outputBytes = (length + 1) * 16
    const buffers = () => [input.slice(), new Uint8Array(outputBytes), new Uint8Array([1, 0, 0, 0])] as const
    const program = await buildCpuProgram(kernels)
    const results = await program.run(
      kernels.map((_, kernel) => {
        const [a, out, n] = buffers()
        return {
          kernel,
          grid: [1, 1, 1] as const,
          parameters: [a, BigInt(a.byteLength), out, BigInt(outputBytes), n],
        }
      }),
    )
    const bad: string[] = []
    for (const [i, result] of results.entries()) {
      const [a, out, n] = buffers()
      compileReference(modules[i]!).run({
        workgroups: [1, 1, 1],
        bindings: new Map([
          ['0.0', a],
          ['0.1', out],
          ['0.2', n],
        ]),
      })
      if ('failure' in result) bad.push(`seed ${seeds[i]}: ${result.failure}`)
      else if (Buffer.compare(Buffer.from(out), Buffer.from(result.buffers[1]!)) !== 0)
        bad.push(`seed ${seeds[i]}: the results differ`)
    }
    expect(bad).toEqual([])
    expect(kernels.filter((k) => k.parts.body.includes('async_copy(')).length).toBeGreaterThan(80)
  })
})
