import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { headingSlug } from '../../scripts/site/links.ts'
import { addTryLinks } from './try-links.ts'

const BUILD = join(import.meta.dirname, '../../build')

/** Written by `scripts/site.ts`. */
const navigation: { nav: object[]; sidebar: object[] } = JSON.parse(
  readFileSync(join(BUILD, 'site-source/navigation.json'), 'utf8'),
)
const base = process.env['SITE_BASE'] ?? '/'

export default {
  title: 'ratesmith',
  description: 'An exchange-rate API that you mount into your own app.',
  lang: 'en',
  base,
  srcDir: join(BUILD, 'site-source'),
  outDir: join(BUILD, 'site'),
  cacheDir: join(BUILD, 'site-cache'),
  metaChunk: true,
  head: [['link', { rel: 'icon', href: `${base}icon.svg`, type: 'image/svg+xml' }]],
  // The service worker answers below api/, which has no pages.
  ignoreDeadLinks: [/^\/api\//, /^\/llms(-full)?\.txt$/],
  markdown: {
    anchor: { slugify: headingSlug },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (markdown: Parameters<typeof addTryLinks>[0]) => addTryLinks(markdown, base),
  },
  vue: {
    template: { compilerOptions: { isCustomElement: (tag: string) => tag === 'live-request' } },
  },
  themeConfig: {
    ...navigation,
    logo: '/icon.svg',
    outline: [2, 3],
    search: { provider: 'local' },
  },
}
