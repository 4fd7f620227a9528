import { describe, expect, it } from 'vitest'
import { SourceText } from '../source-text.ts'
import { openDawnOracle } from '../testing/dawn-oracle.ts'
import { tokenize } from './lexer.ts'
import { lower, parseWgsl } from './lower.ts'

const dawn = await openDawnOracle()
const kernel = '@compute @workgroup_size(1) fn main() { }'

const accepted = {
  'a byte order mark in a comment': `// \ufeff\n${kernel}`,
  'half of a surrogate pair in a comment': `// \ud800\n${kernel}`,
  'every blank of Unicode': '@compute\v@workgroup_size(1)\u0085fn\u2028main()\u200e{\u2029}\f',
  'a very long comment of surrogate pairs': `// ${'\u{1f600}'.repeat(1e7)}\n${kernel}`,
  'a joiner in a comment': `// a\u200db\n${kernel}`,
  'letters of other scripts': '@compute @workgroup_size(1) fn main() { let Δx = 1; }',
}
const rejected = {
  'a byte order mark at the start': `\ufeff${kernel}`,
  'a byte order mark at the end': `${kernel}\ufeff`,
  'the character NUL': `${kernel}\0`,
  'NUL in a comment': `// a\0b\n${kernel}`,
  'NUL in a block comment': `/* \0 */${kernel}`,
  'half of a surrogate pair': `\ud800${kernel}`,
  'a character of no token': '@compute @workgroup_size(1) fn main() { let x = 1`; }',
  'a joiner in a name': '@compute @workgroup_size(1) fn main() { let a\u200db = 1; }',
  'a joiner at the end of a name': '@compute @workgroup_size(1) fn main() { let a\u200c = 1; }',
  'a middle dot in a name': '@compute @workgroup_size(1) fn main() { let a\u30fb = 1; }',
  'a letter of Unicode 15 in a name': '@compute @workgroup_size(1) fn main() { let a\u0cf3 = 1; }',
  'a letter of Unicode 16 at the start of a name':
    '@compute @workgroup_size(1) fn main() { let \u{1e5d0} = 1; }',
  'a name of two underscores': '@compute @workgroup_size(1) fn main() { let __x = 1; }',
}

function isName(name: string): boolean {
  try {
    return tokenize(new SourceText(name, 'name'))[0]!.text === name
  } catch {
    return false
  }
}

describe('characters', () => {
  it.each(Object.entries(accepted))('are accepted: %s', (_, source) => {
    lower(parseWgsl(source), { entryPoint: 'main' })
  })
  it.each(Object.entries(rejected))('are rejected: %s', (_, source) => {
    expect(() => parseWgsl(source)).toThrow(/the character|is not a valid name/)
  })
  it.skipIf(dawn === undefined)('get the same verdicts from Dawn (needs npm webgpu)', async () => {
    for (const [name, source] of Object.entries(accepted)) expect(await dawn!(source), name).toEqual([])
    for (const [name, source] of Object.entries(rejected)) expect(await dawn!(source), name).not.toEqual([])
  })
  it.skipIf(dawn === undefined)(
    'of names are those of Dawn (needs npm webgpu)',
    { timeout: 60_000 },
    async () => {
      const accepted: string[] = []
      for (let code = 0; code <= 0x10ffff; code++) {
        const name = `a${String.fromCodePoint(code)}${code}`
        if (/^\p{XID_Continue}+$/u.test(name) && isName(name)) accepted.push(`const ${name} = 0;`)
      }
      // Unicode 14 has 135,053 such characters.
      expect(accepted.length).toBe(135_053)
      while (accepted.length > 0) expect(await dawn!(accepted.splice(0, 4096).join('\n'))).toEqual([])
    },
  )
})
