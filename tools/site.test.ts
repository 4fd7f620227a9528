import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { examples, guideTitles, performanceTitles, sitePages, withSiteLinks } from '../site/pages.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const pages = sitePages()

it('every guide is a page, in the table of the guides and in the menu', () => {
  const guides = readdirSync(join(root, 'docs/guides')).filter((name) => name !== 'README.md')
  expect(guides.length).toBeGreaterThan(10)
  expect(
    guideTitles()
      .map(([page]) => `${page}.md`)
      .sort(),
  ).toEqual(guides.map((name) => `guides/${name}`).sort())
})

it('every page of what was tried for performance is in the table of docs/performance.md and in the menu', () => {
  const topics = readdirSync(join(root, 'docs/performance'))
  expect(topics.length).toBeGreaterThan(5)
  expect(
    performanceTitles()
      .map(([page]) => `${page}.md`)
      .sort(),
  ).toEqual(topics.map((name) => `performance/${name}`).sort())
})

it.each([...pages.keys()])('the links of %s lead to pages of the site, or to files on GitHub', (source) => {
  const text = withSiteLinks(readFileSync(join(root, source), 'utf8'), source, pages)
  const targets = new Set(pages.values())
  const prose = text.replaceAll(/```.*?```|`[^`]*`/gs, '')
  // VitePress makes links of bare addresses, and refuses those of this machine.
  expect(prose).not.toMatch(/https?:\/\/(localhost|127\.)/)
  // Outside code, VitePress reads a name in angle brackets as an HTML element, and a page is a Vue template.
  expect(prose).not.toMatch(/<\/?[a-z]|\{\{/i)
  const here = pages.get(source)!
  for (const [, link] of text.matchAll(/\]\((?!#)([^)#]+)(?:#[^)]*)?\)/g)) {
    const onGitHub = /^https:\/\/github\.com\/tandem-gpu\/tandem\/blob\/main\/(.*)$/.exec(link!)
    if (onGitHub !== null) expect(existsSync(join(root, onGitHub[1]!)), link).toBe(true)
    else if (!/^https?:/.test(link!))
      expect([...targets, ...examples().map(([name]) => `examples/${name}.md`)], link).toContain(
        join(here, '..', link!),
      )
  }
})

it('every example is a page with its code', () => {
  expect(examples().map(([name]) => name)).toEqual(
    expect.arrayContaining(['scan', 'vite-page', 'own-algorithm-in-ci']),
  )
  for (const [name] of examples()) expect(existsSync(join(root, 'examples', name)), name).toBe(true)
})

it('of all headings, only one of the install guide has the word Windows, which a search ranks by headings', () => {
  const found = [...pages.keys()].filter((source) =>
    /^#+ .*\bwindows\b/im.test(readFileSync(join(root, source), 'utf8').replaceAll(/^```.*?^```$/gms, '')),
  )
  expect(found).toEqual(['docs/guides/install.md'])
})
