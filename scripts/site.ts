// Builds the site into build/site: the guides, the reference, and the handler in a service worker. `--base /path/` is its folder
// on the server, and `--origin https://owner.github.io` the server, for absolute addresses and the sitemap.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

import { build } from 'esbuild'

import openapi from '../src/generated/openapi.json' with { type: 'json' }
import { ROOT, installOnce } from './packages.mjs'
import { operationsPage } from './site/operations.ts'
import { GROUPS, readGuides, summaryOf, titleOf } from './site/pages.ts'
import type { Page } from './site/pages.ts'
import { referencePages } from './site/reference.ts'

const SITE = join(ROOT, 'site')
const SOURCE = join(ROOT, 'build/site-source')
const OUTPUT = join(ROOT, 'build/site')

const { base = '/', origin } = parseArgs({
  options: { base: { type: 'string' }, origin: { type: 'string' } },
}).values
if (!/^\/(?:[\w.-]+\/)*$/.test(base)) throw new Error(`base must start and end with /, got ${base}`)
if (origin !== undefined && !/^https?:\/\/[\w.-]+(?::\d+)?$/.test(origin)) {
  throw new Error(`origin must be an http or https URL without a path, got ${origin}`)
}
/** Start of the links between the texts. */
const address = `${origin ?? ''}${base}`

installOnce('site', 'Installing the generator of the site')
const front = {
  path: 'index.md',
  text: readFileSync(join(SITE, 'pages/index.md'), 'utf8'),
  group: '',
}
const skill = {
  path: 'skills/ratesmith/SKILL.md',
  text: readFileSync(join(ROOT, 'skills/ratesmith/SKILL.md'), 'utf8'),
}
const pages: Page[] = [...readGuides(ROOT), operationsPage(), ...referencePages(ROOT)]
writeSource()
execFileSync(
  process.execPath,
  [join(SITE, 'node_modules/vitepress/bin/vitepress.js'), 'build', SITE],
  {
    env: { ...process.env, SITE_BASE: base, SITE_ORIGIN: origin },
    stdio: ['ignore', 'ignore', 'inherit'],
  },
)
writeTexts()
await writeScripts()
process.stdout.write(`${join('build', 'site', 'index.html')}\n`)

function write(folder: string, path: string, text: string): void {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function writeSource(): void {
  for (const folder of [SOURCE, OUTPUT]) rmSync(folder, { recursive: true, force: true })
  for (const page of [front, ...pages]) write(SOURCE, page.path, page.text)
  // The pages have the pictures as assets; the front page, other sites and the Markdown by their own paths.
  for (const folder of ['docs/pictures', 'public/docs/pictures']) {
    cpSync(join(ROOT, 'docs/pictures'), join(SOURCE, folder), { recursive: true })
  }
  for (const file of globSync('docs/*.json', { cwd: ROOT })) {
    write(SOURCE, join('public', file), readFileSync(join(ROOT, file), 'utf8'))
  }
  copyFileSync(join(SITE, 'icon.svg'), join(SOURCE, 'public/icon.svg'))
  // The service worker answers with the same document, once it has started.
  write(
    SOURCE,
    'public/api/v1/openapi.json',
    JSON.stringify({ ...openapi, servers: [{ url: `${base}api` }] }),
  )
  const sidebar = GROUPS.map((group) => ({
    text: group,
    items: pages
      .filter((page) => page.group === group)
      .map((page) => ({
        text: page.path === 'introduction.md' ? 'Start here' : titleOf(page),
        link: `/${page.path.replace(/(index)?\.md$/, '')}`,
      })),
  }))
  const nav = [
    { text: 'Explorer', link: '/api/', target: '_self', noIcon: true },
    { text: 'Guides', link: '/introduction' },
    { text: 'Recipes', link: '/docs/recipes/' },
    { text: 'API', link: '/endpoints' },
    { text: 'Modules', link: '/reference/' },
  ]
  write(SOURCE, 'navigation.json', JSON.stringify({ nav, sidebar }))
}

/** Writes each page as Markdown, and their index, for readers that are programs. */
function writeTexts(): void {
  for (const { path, text } of [front, skill, ...pages]) write(OUTPUT, path, text)
  const groups = GROUPS.map((group) => {
    const lines = pages
      .filter((page) => page.group === group)
      .map((page) => `- [${titleOf(page)}](${address}${page.path}): ${summaryOf(page)}\n`)
    return `## ${group}\n\n${lines.join('')}`
  })
  const about = 'An exchange-rate API that mounts into a TypeScript app with one import.'
  const index = `# ratesmith\n\n> ${about}\n\n- [Front page](${address}index.md): ${about}\n- [Skill for coding agents](${address}${skill.path}): ${summaryOf(skill)}\n\n${groups.join('\n')}`
  write(OUTPUT, 'llms.txt', index)
  const texts = [skill, ...pages].map(
    ({ path, text }) => `<!-- ${address}${path} -->\n\n${text.trim()}\n`,
  )
  write(OUTPUT, 'llms-full.txt', texts.join('\n'))
}

async function writeScripts(): Promise<void> {
  copyFileSync(join(SITE, 'api.html'), join(OUTPUT, 'api/index.html'))
  const shared = { bundle: true, minify: true, format: 'esm', target: 'es2022' } as const
  await build({
    ...shared,
    entryPoints: [join(SITE, 'live/start-explorer.ts')],
    outfile: join(OUTPUT, 'start-explorer.js'),
  })
  const html = readFileSync(join(OUTPUT, 'index.html'), 'utf8')
  const assets = Array.from(html.matchAll(/(?:href|src)="([^"]*)"/g), ([, path = '']) => path)
    .filter((path) => path.startsWith(`${base}assets/`))
    .map((path) => path.slice(base.length))
  const files = [...new Set(['', 'api/index.html', 'start-explorer.js', 'icon.svg', ...assets])]
  const version = createHash('sha256').update(html).digest('hex').slice(0, 12)
  await build({
    ...shared,
    format: 'iife',
    entryPoints: [join(SITE, 'worker/main.ts')],
    outfile: join(OUTPUT, 'sw.js'),
    define: { CACHE: JSON.stringify(`ratesmith:${base}:${version}`), FILES: JSON.stringify(files) },
  })
}
