import { defineConfig } from 'vitepress'
import { apiEntries } from '../api-entries.ts'
import { examples, guideTitles, performanceTitles, sitePages } from '../pages.ts'

const packages = [...sitePages().values()].filter((page) => page.startsWith('packages/'))

const documents = [
  {
    text: 'Guides',
    items: guideTitles().map(([page, text]) => ({ text, link: `/${page}` })),
  },
  {
    text: 'Reference',
    items: [
      { text: 'The tandem command', link: '/cli' },
      { text: 'What is supported', link: '/support' },
      {
        text: 'Measurements',
        link: '/performance',
        collapsed: true,
        items: performanceTitles().map(([page, text]) => ({ text, link: `/${page}` })),
      },
      { text: 'Scaling', link: '/scaling' },
      { text: 'Overview', link: '/overview' },
      { text: 'Architecture', link: '/architecture' },
      { text: 'Contributing', link: '/contributing' },
    ],
  },
  {
    text: 'Examples',
    link: '/examples/',
    collapsed: true,
    items: examples().map(([name]) => ({ text: name, link: `/examples/${name}` })),
  },
  {
    text: 'Packages',
    items: packages.map((page) => ({
      text: page.replace(/^packages\/|\.md$/g, ''),
      link: `/${page.replace(/\.md$/, '')}`,
    })),
  },
]

const api = {
  text: 'API',
  link: '/api/',
  items: [...apiEntries().keys()].map((name) => ({ text: name, link: `/api/${name}/` })),
}

/** A number and its unit, and a number and its power of ten, stay on one line. */
function keepUnits({
  tokens,
}: {
  tokens: readonly { children: readonly { type: string; content: string }[] | null }[]
}) {
  for (const { children } of tokens)
    for (const token of children ?? [])
      if (token.type === 'text')
        token.content = token.content
          .replace(
            /(\d[²³]?) (?=(?:[×·%]|[GMTk]?B|[KMG]iB|[GT]B\/s|[GT]FLOP\/s|GPUs?|[mµn]?s)(?![\w]))/g,
            '$1\u00a0',
          )
          .replace(/(?<=\d\u00a0·) (?=10)/g, '\u00a0')
}

export default defineConfig({
  title: 'Tandem',
  description: 'GPU compute from TypeScript, on every GPU: CUDA, WebGPU, the browser, and software in CI',
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: '/logo.svg' }],
    ['meta', { property: 'og:title', content: 'Tandem: GPU compute from TypeScript, on every GPU' }],
    [
      'meta',
      {
        property: 'og:description',
        content:
          'Write a kernel once; run it through CUDA, WebGPU, in the browser, and on a software GPU in CI.',
      },
    ],
    ['meta', { property: 'og:image', content: '/card.png' }],
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
  ],
  srcDir: 'pages',
  outDir: 'dist',
  cleanUrls: false,
  // Before and after the page of a symbol there is none that one would read next.
  transformPageData({ relativePath, frontmatter }) {
    if (relativePath.startsWith('api/')) Object.assign(frontmatter, { prev: false, next: false })
  },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (markdown) => markdown.core.ruler.push('units', keepUnits),
  },
  themeConfig: {
    logo: '/logo.svg',
    nav: [
      { text: 'Install', link: '/guides/install' },
      { text: 'Guides', link: '/guides/' },
      { text: 'API', link: '/api/' },
      { text: 'Command line', link: '/cli' },
      { text: 'Examples', link: '/examples/' },
      { text: 'GitHub', link: 'https://github.com/tandem-gpu/tandem' },
    ],
    sidebar: { '/api/': [api, ...documents], '/': [...documents, api] },
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          // A guide or a symbol answers more questions than a file of an example.
          searchOptions: { boostDocument: (id: string) => (id.includes('/examples/') ? 0.3 : 1) },
        },
      },
    },
    outline: [2, 3],
  },
})
