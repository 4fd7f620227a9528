import { defineConfig } from 'vitepress'
import { guideTitles, sitePages } from '../pages.ts'

const packages = [...sitePages().values()].filter((page) => page.startsWith('packages/'))

export default defineConfig({
  title: 'Tandem',
  description: 'GPU compute from TypeScript, on every GPU',
  srcDir: 'pages',
  outDir: 'dist',
  cleanUrls: false,
  themeConfig: {
    nav: [
      { text: 'Guides', link: '/guides/' },
      { text: 'Command line', link: '/cli' },
      { text: 'Examples', link: '/examples' },
      { text: 'GitHub', link: 'https://github.com/tandem-gpu/tandem' },
    ],
    sidebar: [
      {
        text: 'Guides',
        items: guideTitles().map(([page, text]) => ({ text, link: `/${page}` })),
      },
      {
        text: 'Reference',
        items: [
          { text: 'The tandem command', link: '/cli' },
          { text: 'What is supported', link: '/support' },
          { text: 'Measurements', link: '/performance' },
          { text: 'Examples', link: '/examples' },
          { text: 'Architecture', link: '/architecture' },
          { text: 'Contributing', link: '/contributing' },
        ],
      },
      {
        text: 'Packages',
        items: packages.map((page) => ({
          text: page.replace(/^packages\/|\.md$/g, ''),
          link: `/${page.replace(/\.md$/, '')}`,
        })),
      },
    ],
    search: { provider: 'local' },
    outline: [2, 3],
  },
})
