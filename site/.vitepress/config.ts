import { defineConfig } from 'vitepress'
import { apiEntries } from '../api-entries.ts'
import { guideTitles, performanceTitles, sitePages } from '../pages.ts'

const packages = [...sitePages().values()].filter((page) => page.startsWith('packages/'))

export default defineConfig({
  title: 'Tandem',
  description: 'GPU compute from TypeScript, on every GPU',
  srcDir: 'pages',
  outDir: 'dist',
  cleanUrls: false,
  markdown: { theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' } },
  themeConfig: {
    nav: [
      { text: 'Guides', link: '/guides/' },
      { text: 'Demo', link: '/demo' },
      { text: 'API', link: '/api/' },
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
          {
            text: 'Measurements',
            link: '/performance',
            collapsed: true,
            items: performanceTitles().map(([page, text]) => ({ text, link: `/${page}` })),
          },
          { text: 'Scaling', link: '/scaling' },
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
      {
        text: 'API',
        items: [...apiEntries().keys()].map((name) => ({ text: name, link: `/api/${name}` })),
      },
    ],
    search: { provider: 'local' },
    outline: [2, 3],
  },
})
