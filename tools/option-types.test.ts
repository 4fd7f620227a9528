import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

// Users with `exactOptionalPropertyTypes` may pass an option on as undefined: { devices: values.devices }.

const root = fileURLToPath(new URL('../packages', import.meta.url))

/**
 * The optional members of interfaces that are named `…Options` in one source, and whether each takes
 * undefined.
 */
function optionalMembers(source: string): { readonly member: string; readonly takesUndefined: boolean }[] {
  return [...source.matchAll(/^(?:export )?interface (\w*Options)\b.*?^\}/gms)].flatMap(([text, name]) =>
    [...text.matchAll(/^ {2}(?:readonly )?(\w+)\?:(.*?)(?=^ {2}(?:\/\*\*|readonly |\w+\??:)|^\})/gms)].map(
      ([, member, type]) => ({
        member: `${name}.${member}`,
        takesUndefined: /\|\s*undefined\b/.test(type!),
      }),
    ),
  )
}

it('each optional member of an interface of options takes undefined', () => {
  const sources = readdirSync(root, { recursive: true, withFileTypes: true })
    // The options of commands come from the command line, and not all of what tests share is published.
    .filter(({ parentPath }) => /packages\/(?!cli)[\w-]+\/src/.test(parentPath))
    .filter(({ name, parentPath }) => /(?<!\.test)\.ts$/.test(name) && !/backend.*testing/.test(parentPath))
    .map(({ name, parentPath }) => join(parentPath, name))
  const found = sources.flatMap((path) =>
    optionalMembers(readFileSync(path, 'utf8')).map((member) => ({ ...member, path: relative(root, path) })),
  )
  expect(found.length).toBeGreaterThan(60)
  expect(
    found.flatMap(({ path, member, takesUndefined }) => (takesUndefined ? [] : [`${path}: ${member}`])),
  ).toEqual([])
})

it('a member that takes none is noticed, on one line or on several', () => {
  const source = `export interface XOptions {
  /** What it is. */
  readonly a?: number
  readonly b?:
    | 'x'
    | undefined
  c?: (n: number) => void
  d: string
}
interface Other {
  readonly e?: number
}
`
  expect(optionalMembers(source)).toEqual([
    { member: 'XOptions.a', takesUndefined: false },
    { member: 'XOptions.b', takesUndefined: true },
    { member: 'XOptions.c', takesUndefined: false },
  ])
})
