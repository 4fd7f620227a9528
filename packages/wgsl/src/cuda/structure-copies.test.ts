import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { compileReference } from '../reference/index.ts'
import { emitCuda } from './emit-cuda.ts'
import { hasProgram } from './testing/kernel-cases.ts'
import { parsePtx, runPtx } from './testing/ptx.ts'

/** Copies between parts of local variables; nvcc loses the member behind the part in each if C++'s `=` does it. */
const source = `
struct Point { at: vec3f }
struct Pair { first: Point, n: u32, second: Point, m: u32 }
struct Flag { n: u32, is_set: array<bool, 1> }
struct Flags { first: array<Flag, 1>, n: u32 }
@group(0) @binding(0) var<storage, read_write> out: array<u32, 16>;
var<private> kept: Pair;
fn made(x: u32) -> Pair { var p: Pair; p.n = x; return p; }
fn put(p: ptr<function, Point>, value: Point) { *p = value; }
@compute @workgroup_size(1) fn main() {
  let x = out[0];
  { var a: Pair; var b: Pair; a.first = b.first; out[1] = a.n + 5u; }
  { var a = made(x); let b = made(3u); a.first = b.first; out[2] = a.n; }
  { var a = made(x); var b = made(4u); put(&a.first, b.second); out[3] = a.n; }
  { var b = made(5u); kept.n = x; kept.first = b.first; out[4] = kept.n; }
  { var a = made(x); var b = made(6u); let t = a.first; a.first = b.first; b.first = t; out[5] = a.n; out[6] = b.n; }
  { var a: Pair; a = Pair(Point(vec3f(1)), x, Point(vec3f(3)), 4u); var b: Pair; b.first = a.second; a.first = b.first; out[7] = a.n + u32(a.first.at.y); }
  { var a: Flags; var b: Flags; a.n = x; a.first[0] = b.first[0]; out[8] = a.n; }
  { var a = array(made(x), made(7u)); var b: Pair; a[0].first = b.first; out[9] = a[0].n + a[1].n; }
}`

/** nvcc loses the store to `out[0]` if the prelude's `component` takes its vector by value. */
const components = `
struct Point { @align(16) at: vec3u }
@group(0) @binding(0) var<storage, read_write> out: array<u32, 16>;
@group(0) @binding(1) var<storage, read_write> stored: Point;
var<private> kept: Point;
var<private> count: u32 = 1u;
var<private> order: array<u32, 4> = array<u32, 4>(1u, 0u, 2u, 1u);
fn next() -> u32 { count += 1u; order[count & 3u] ^= 0u; return count & 3u; }
fn step(p: ptr<function, u32>) -> u32 { *p += 1u; return *p & 1u; }
@compute @workgroup_size(1) fn main() {
  var k = 3u; var sum = 1u;
  var own: Point;
  sum = sum * 3u + stored.at.y;
  stored.at[order[next() & 3u]]++;
  let p = &kept.at;
  let copied = own; sum = sum * 7u + copied.at[next()];
  stored.at[step(&k)] ^= ((*p)[next()] ^ own.at.y);
  out[0] = sum; out[1] = k; out[2] = count; out[3] = own.at.y + kept.at.x * 3u;
}`

it.skipIf(!hasProgram('nvcc')).each([
  ['leave what lies behind them as it is', source],
  ['have all components', components],
])("copies of structures %s, in nvcc's PTX (needs nvcc)", { timeout: 600_000 }, (_, source) => {
  const module = lower(parseWgsl(source))
  const { source: text, entryName } = emitCuda(module, { bounds: 'clamp', lineDirectives: false })
  const folder = mkdtempSync(join(tmpdir(), 'tandem-structures-'))
  try {
    writeFileSync(join(folder, 'copies.cu'), text)
    execFileSync('nvcc', ['-std=c++17', '-arch=sm_90', '-w', '-ptx', 'copies.cu'], { cwd: folder })
    const ptx = parsePtx(readFileSync(join(folder, 'copies.ptx'), 'utf8')).get(entryName)!
    // `out`, and after it the 16 bytes of `stored`, with the numbers of bytes that are bound.
    const values = [0n, 64n, 64n, 16n]
    const parameters = new Map(values.map((value, i) => [`${entryName}_param_${i}`, value]))
    const words = Uint32Array.from({ length: 20 }, () => 20)
    const expected = words.slice()
    runPtx(ptx, { parameters, memory: new DataView(words.buffer), thread: 0 }, 1000)
    const bindings = new Map([
      ['0.0', new Uint8Array(expected.buffer, 0, 64)],
      ['0.1', new Uint8Array(expected.buffer, 64)],
    ])
    compileReference(module).run({ workgroups: [1, 1, 1], bindings })
    expect([...words]).toEqual([...expected])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
