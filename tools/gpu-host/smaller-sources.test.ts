import { lower, parseWgsl } from '@tandem-gpu/wgsl'
import { expect, it } from 'vitest'
import { smallerSources } from './smaller-sources.ts'

const source = `@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read_write> other: array<u32>;
fn twice(a: u32) -> u32 { return 2u * a; }
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) li: u32) {
  var sum = 0u;
  for (var k = 0u; k < 8u; k++) {
    if (k < li) { sum += countOneBits(twice(k) ^ (li << 3u)); } else { sum = max(k, sum); }
  }
  other[li] = sum;
  out[2u * li + (sum & 1u)] = sum;
}`

/** Takes the smallest source that is valid and passes the test, again and again. */
function smallest(test: RegExp): string {
  const isGood = (text: string): boolean => {
    try {
      if (!test.test(text)) return false
      lower(parseWgsl(text))
      return true
    } catch {
      return false
    }
  }
  let result = source
  for (let next: string | undefined = source; next !== undefined; next = smallerSources(result).find(isGood))
    result = next
  return result.replaceAll(/\s+/g, ' ')
}

it('what a test does not need goes away', () => {
  expect(smallest(/countOneBits/)).toMatchInlineSnapshot(
    `" @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) li: u32) { var sum = 0u; for (var k = 0u; k < 8u; k++) { sum += countOneBits(1u); } }"`,
  )
  expect(smallest(/out\[/)).toMatchInlineSnapshot(
    `"@group(0) @binding(0) var<storage, read_write> out: array<u32>; @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) li: u32) { var sum = 0u; out[2u * li + (sum & 1u)] = sum; }"`,
  )
  expect(smallest(/max\(/)).toMatchInlineSnapshot(
    `" @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) li: u32) { var sum = 0u; for (var k = 0u; k < 8u; k++) { sum = max(k, sum); } }"`,
  )
})

it('every text is smaller, and no text comes twice', () => {
  const texts = smallerSources(source)
  expect(new Set(texts).size).toBe(texts.length)
  for (const text of texts) expect(text.length).toBeLessThan(source.length)
  expect(texts.length).toBeGreaterThan(30)
})
