import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = fileURLToPath(new URL('pages', import.meta.url))
const repository = 'https://github.com/tandem-gpu/tandem/blob/main/'

/** Documents of the repository that are pages of the site: path in the repository, path in the site. */
export function sitePages(): Map<string, string> {
  const pages = new Map([
    ['README.md', 'overview.md'],
    ['ARCHITECTURE.md', 'architecture.md'],
    ['CONTRIBUTING.md', 'contributing.md'],
    ['examples/README.md', 'examples/index.md'],
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
    if (examples().some(([name]) => path === `examples/${name}`))
      return `](./${relative(here, `${path}.md`)}${hash})`
    return page === undefined ? `](${repository}${path}${hash})` : `](./${relative(here, page)}${hash})`
  })
}

/** The examples, whose code is on a page of its own each: name, and what it shows. */
export function examples(): [name: string, shows: string][] {
  const text = readFileSync(join(root, 'examples/README.md'), 'utf8')
  return [...text.matchAll(/^\| \[`([\w-]+)`\]\([\w-]+\) \| (.*) \|$/gm)].map(([, name, shows]) => [
    name!,
    shows!,
  ])
}

/** The page of an example: what it shows, and its files. */
function examplePage(name: string, shows: string): string {
  const files = readdirSync(join(root, 'examples', name)).filter((file) => !file.endsWith('.wgsl.ts'))
  const rank = (file: string) =>
    ['.test.ts', '.html', '.wgsl', '.ts'].findIndex((ending) => file.endsWith(ending))
  const blocks = files
    .toSorted((a, b) => rank(b) - rank(a) || a.localeCompare(b))
    .map((file) => {
      const code = readFileSync(join(root, 'examples', name, file), 'utf8')
      return `## ${file}\n\n\`\`\`\`${posix.extname(file).slice(1)}\n${code}\`\`\`\`\n`
    })
  return `# ${name}\n\n${shows[0]!.toUpperCase()}${shows.slice(1)}.\n\n[How to run the examples](README.md)\n\n${blocks.join('\n')}`
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
  for (const [name, shows] of examples())
    writeFileSync(
      join(out, `examples/${name}.md`),
      withSiteLinks(examplePage(name, shows), 'examples/README.md', pages),
    )
  cpSync(fileURLToPath(new URL('home.md', import.meta.url)), join(out, 'index.md'))
  cpSync(fileURLToPath(new URL('public', import.meta.url)), join(out, 'public'), { recursive: true })
  cpSync(join(root, 'LICENSE'), join(out, 'public/LICENSE.txt'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writePages()
