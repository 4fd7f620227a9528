import { expect, it } from 'vitest'
import { kernelCase, referenceRun } from '../cuda/testing/kernel-cases.ts'
import { corpus } from './corpus.ts'
import { factChecker } from './fact-checker.ts'

// One test per kernel, because mutation testing runs only the tests that reach a mutant.
it.each(corpus('cuda', 'accepted', 'generated').map(({ name, source }) => [name, source]))(
  'every claim of the analyses holds while %s of the corpus runs',
  (name, source) => {
    const c = kernelCase(name!, source!)
    const { observer, failures } = factChecker(c.module)
    referenceRun(c, observer)
    expect([...failures]).toEqual([])
  },
)

/** The claims that a kernel with these statements contradicts. */
function contradictions(statements: string): string[] {
  const c = kernelCase(
    'test',
    `// run: workgroups=1,1,1
// buffer n: i32[4] values(2147483647, 4, 0, -1)
// buffer out: u32[4]
@group(0) @binding(0) var<uniform> n: vec4i;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main() {
  var sum = 0u;
  var tile: array<u32, 8>;
  ${statements}
  out[0] = sum;
}`,
  )
  const { observer, failures } = factChecker(c.module)
  referenceRun(c, observer)
  return [...failures]
}

it('a counter that wraps around is not at or above its first value', () => {
  expect(
    contradictions(
      'for (var i: i32 = 5; i < n.x; i += 1073741824) { sum += tile[min(i, 7)]; if (sum > 9u || i < 0) { break; } }',
    ),
  ).toEqual([])
  expect(
    contradictions(
      'var turns = 0; for (var i = 5u; i < u32(n.x); i += 3000000000u) { sum += i; turns += 1; if (turns > 4) { break; } }',
    ),
  ).toEqual([])
})

it('a loop whose counter wraps around to its bound has no trip count', () => {
  expect(contradictions('for (var i = 4294967290u; i != 2u; i += 1u) { sum += i; }')).toEqual([])
  expect(contradictions('for (var i = 4294967290u; i != 0u; i += 1u) { sum += i; }')).toEqual([])
  expect(contradictions('for (var i = 4; i != 1; i += 1) { sum += 1u; if (sum > 9u) { break; } }')).toEqual(
    [],
  )
})
