import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { headingSlug } from '../../scripts/site/links.ts'
import { summaryOf } from '../../scripts/site/pages.ts'
import { addPageHead } from './page-head.ts'
import type { PageData } from './page-head.ts'
import { addTryLinks } from './try-links.ts'

const BUILD = join(import.meta.dirname, '../../build')

/** Written by `scripts/site.ts`. */
const navigation: { nav: object[]; sidebar: object[] } = JSON.parse(
  readFileSync(join(BUILD, 'site-source/navigation.json'), 'utf8'),
)
const base = process.env['SITE_BASE'] ?? '/'
const origin = process.env['SITE_ORIGIN']
const srcDir = join(BUILD, 'site-source')
const description = 'An exchange-rate API that you mount into your own app.'

/** What needs the address of the site. */
const addressed = origin && {
  sitemap: { hostname: origin + base },
  transformPageData(page: PageData): void {
    const text = readFileSync(join(srcDir, page.relativePath), 'utf8')
    addPageHead(page, origin + base, summaryOf({ text }) || description)
  },
}

/** A dependency of the viewer of the API expects to be a script, where `this` is the window. */
const scriptInModule = {
  name: 'script-in-module',
  transform(code: string, id: string): string | undefined {
    if (!id.includes('openapi-resolver.browser.js')) return undefined
    return code.replaceAll('this["webpackChunk', 'globalThis["webpackChunk')
  },
}

export default {
  ...addressed,
  title: 'ratesmith',
  description,
  lang: 'en',
  base,
  srcDir,
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
  vite: { plugins: [scriptInModule] },
  vue: {
    template: { compilerOptions: { isCustomElement: (tag: string) => tag === 'live-request' } },
  },
  themeConfig: {
    ...navigation,
    logo: '/icon.svg',
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          // Guides before the pages that list every type and change.
          searchOptions: {
            // 'rounding' is not 'mounting'.
            fuzzy: 0.1,
            boostDocument: (id: string) =>
              /\/(?:reference\/|changelog|endpoints)/.test(id) ? 0.1 : 1,
          },
        },
      },
    },
  },
}
