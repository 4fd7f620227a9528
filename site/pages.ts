import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = fileURLToPath(new URL('pages', import.meta.url))
const repository = 'https://github.com/tandem-gpu/tandem/blob/main/'

/** Documents of the repository that are pages of the site: path in the repository, path in the site. */
export function sitePages(): Map<string, string> {
  const pages = new Map([
    ['README.md', 'index.md'],
    ['ARCHITECTURE.md', 'architecture.md'],
    ['CONTRIBUTING.md', 'contributing.md'],
    ['examples/README.md', 'examples.md'],
    ['docs/cli.md', 'cli.md'],
    ['docs/support.md', 'support.md'],
    ['docs/performance.md', 'performance.md'],
    ['docs/scaling.md', 'scaling.md'],
    ['docs/guides/README.md', 'guides/index.md'],
  ])
  for (const name of readdirSync(join(root, 'docs/guides')))
    if (name !== 'README.md') pages.set(`docs/guides/${name}`, `guides/${name}`)
  for (const name of readdirSync(join(root, 'docs/performance')))
    pages.set(`docs/performance/${name}`, `performance/${name}`)
  for (const name of readdirSync(join(root, 'packages')))
    pages.set(`packages/${name}/README.md`, `packages/${name}.md`)
  return pages
}

/** The guides in the order of their table, with their headings. */
export const guideTitles = () => titlesIn('docs/guides/README.md', 'guides/')

/** The pages of docs/performance in the order of their table, with their headings. */
export const performanceTitles = () => titlesIn('docs/performance.md', 'performance/')

/** The pages in `folder` of the site whose links begin the rows of a table. */
function titlesIn(document: string, folder: string): [page: string, title: string][] {
  const text = readFileSync(join(root, document), 'utf8')
  return [...text.matchAll(/^\| \[([^\]]+)\]\((?:performance\/)?([\w-]+)\.md\)/gm)].map(([, title, name]) => [
    `${folder}${name}`,
    title!,
  ])
}

/** Links to other pages lead to them, links to anything else in the repository lead to GitHub. */
export function withSiteLinks(text: string, source: string, pages: ReadonlyMap<string, string>): string {
  const here = dirname(pages.get(source)!)
  return text.replace(/\]\((?![a-z]+:|#)([^)#]+)(#[^)]*)?\)/g, (_, link: string, hash = '') => {
    const path = posix.normalize(posix.join(posix.dirname(source), link)).replace(/\/$/, '')
    const page = pages.get(path) ?? pages.get(`${path}/README.md`)
    return page === undefined ? `](${repository}${path}${hash})` : `](./${relative(here, page)}${hash})`
  })
}

/** Writes the pages that VitePress builds. */
export function writePages(): void {
  rmSync(out, { recursive: true, force: true })
  const pages = sitePages()
  for (const [source, page] of pages) {
    const target = join(out, page)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, withSiteLinks(readFileSync(join(root, source), 'utf8'), source, pages))
  }
  cpSync(fileURLToPath(new URL('demo.md', import.meta.url)), join(out, 'demo.md'))
  cpSync(join(root, 'LICENSE'), join(out, 'public/LICENSE.txt'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writePages()
