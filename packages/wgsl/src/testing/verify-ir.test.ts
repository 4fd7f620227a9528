import { expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import type { IrModule } from '../ir.ts'
import { boolType } from '../types.ts'
import { verifyIr } from './verify-ir.ts'

const source = `struct S { a: vec3f, b: array<u32, 4> }
@group(0) @binding(0) var<storage, read_write> out: array<S>;
fn f(p: ptr<function, u32>, x: u32) -> u32 { *p += x; return *p; }
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
  var v = i;
  let y = f(&v, 3u);
  for (var k = 0u; k < y; k++) { if (k == 7u) { break; } out[i].b[k & 3u] = y << 2u; }
  out[i].a = vec3f(1.0, 2.0, f32(i));
}`

const boolean = { kind: 'literal', value: true, type: boolType, loc: { line: 1, column: 1 } }

/** The lowered module, with the first node of a kind changed. */
function broken(kind: string, change: (node: Record<string, unknown>) => void): IrModule {
  const module = lower(parseWgsl(source))
  const seen = new Set<object>()
  const find = (node: unknown): Record<string, unknown> | undefined => {
    if (typeof node !== 'object' || node === null || seen.has(node)) return undefined
    seen.add(node)
    if ((node as { kind?: string }).kind === kind) return node as Record<string, unknown>
    for (const part of Object.values(node)) {
      const found = find(part)
      if (found !== undefined) return found
    }
    return undefined
  }
  change(find(module.functions)!)
  return module
}

it('the result of lower is verified in every test', () => {
  expect(lower.toString()).toContain('verifyIr')
})

it('accepts the result of lower', () => {
  verifyIr(lower(parseWgsl(source)))
})

it.each<[string, string, (node: Record<string, unknown>) => void, string]>([
  ['a literal out of range', 'literal', (n) => (n.value = -1), '-1 is a value of u32'],
  [
    'a type that is not interned',
    'literal',
    (n) => (n.type = { kind: 'scalar', scalar: 'u32' }),
    'is interned',
  ],
  [
    'a value out of scope',
    'let',
    (n) => (n.variable = { ...(n.variable as object), id: 999 }),
    'y is in scope',
  ],
  ['an id that occurs twice', 'let', (n) => ((n.variable as { id: number }).id = 0), 'the id 0 is unique'],
  [
    'operands of two types',
    'binary',
    (n) => (n.left = (n.left as { place: object; right: object }).right ?? boolean),
    'operands of equal types',
  ],
  [
    'a conversion that changes nothing',
    'convert',
    (n) => (n.type = (n.value as { type: object }).type),
    'changes scalars',
  ],
  [
    'a constructor call with too few parts',
    'construct',
    (n) => (n.args = (n.args as unknown[]).slice(1)),
    'make up its type',
  ],
  [
    'a variable out of scope',
    'for',
    (n) => Object.assign(n, { kind: 'block', statements: (n.body as { statements: unknown[] }).statements }),
    'k is in scope',
  ],
  ['a break outside loops', 'let', (n) => Object.assign(n, { kind: 'break' }), 'stands in a loop'],
  [
    'a call with too few arguments',
    'call',
    (n) => (n.args = (n.args as unknown[]).slice(1)),
    'an argument for each parameter',
  ],
  [
    'a statement that occurs twice',
    'block',
    (n) => (n.statements = [...(n.statements as unknown[]), (n.statements as unknown[])[0]]),
    'at one place',
  ],
  ['a pointer as a value', 'address-of', (n) => Object.assign(n, { kind: 'load' }), 'a load gives a value'],
])('rejects %s', (_, kind, change, message) => {
  expect(() => verifyIr(broken(kind, change))).toThrow(message)
})
