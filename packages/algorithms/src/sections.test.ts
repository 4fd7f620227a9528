import { expect, it } from 'vitest'
import { sectionsOf } from './sections.ts'

it('gives the text after each line of slashes and a name, as it stands', () => {
  const text = '//// load\n// a comment\nfn load() {}\n//// store\n\n  fn store() { a //// b\n  }\n'
  expect(sectionsOf<'load' | 'store'>(text)).toEqual({
    load: '// a comment\nfn load() {}\n',
    store: '\n  fn store() { a //// b\n  }\n',
  })
})
