import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'

import { needBrowser, newContext } from '../system/browser-context.ts'
import {
  axeViolations,
  expectText,
  expectValue,
  layoutShift,
  settled,
  tabTo,
} from '../system/explorer-page.ts'
import { listen } from '../system/processes.ts'
import { ROOT } from '../system/runtimes.ts'

const BASE = '/ratesmith/'
const ORIGIN = 'https://owner.example'
const ADDRESS = ORIGIN + BASE
const SCRIPT = join(ROOT, 'scripts/site.ts')
const SITE = join(ROOT, 'build/site')
const TYPES: Record<string, string> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
  json: 'application/json',
  png: 'image/png',
}

needBrowser()

beforeAll(() => {
  execFileSync(process.execPath, [SCRIPT, '--base', BASE, '--origin', ORIGIN], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}, 600_000)

/** Returns the file that a static host serves for a path; undefined if it has none. */
function fileOf(path: string): string | undefined {
  if (!path.startsWith(BASE)) return undefined
  const name = join(SITE, decodeURIComponent(path.slice(BASE.length)))
  const file = path.endsWith('/') ? join(name, 'index.html') : name
  return existsSync(file) ? file : undefined
}

/** Opens a page of the site on a static host; every request to another host fails the test. */
async function open(path: string, options: Parameters<typeof newContext>[0] = {}) {
  const { url } = await listen((request, response) => {
    const file = fileOf(new URL(request.url ?? '', 'http://localhost').pathname)
    const type = TYPES[file?.split('.').at(-1) ?? ''] ?? 'text/plain'
    response.writeHead(file ? 200 : 404, { 'content-type': file ? type : 'text/html' })
    response.end(readFileSync(file ?? join(SITE, '404.html')))
  })
  const context = await newContext(options)
  const foreign: string[] = []
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol !== 'data:' && protocol !== 'blob:' && origin !== url) foreign.push(request.url())
  })
  const page = await context.newPage()
  await page.goto(url + BASE + path)
  return { page, context, foreign, root: url + BASE }
}

const captures = (text: string, pattern: RegExp): string[] =>
  Array.from(text.matchAll(pattern), ([, captured = '']) => captured)

const answered = (page: Page) => expectText(page, '.live-facts', /^200 OK in \d+ ms$/)

describe('the files of the site', () => {
  const pages = () => globSync('**/*.html', { cwd: SITE, exclude: ['404.html', 'api/index.html'] })

  it('have every page also as Markdown, listed in llms.txt', () => {
    const index = readFileSync(join(SITE, 'llms.txt'), 'utf8')
    expect(pages().length).toBeGreaterThan(50)
    for (const name of pages()) {
      const markdown = name.replace(/html$/, 'md')
      expect(existsSync(join(SITE, markdown)), markdown).toBe(true)
      expect(index).toContain(`(${ADDRESS}${markdown})`)
    }
    const full = readFileSync(join(SITE, 'llms-full.txt'), 'utf8')
    const links = [...captures(index, /\]\((.*?)\)/g), ...captures(full, /^<!-- (\S+\.md) -->$/gm)]
    expect(links.length).toBeGreaterThan(100)
    expect(links.filter((link) => !link.startsWith(ADDRESS))).toEqual([])
    expect(index).not.toMatch(/^- (?!.*\): \S.)/m)
  })

  it('have the skill for coding agents as it is in the package, named in both texts', () => {
    const path = 'skills/ratesmith/SKILL.md'
    const skill = readFileSync(join(ROOT, path), 'utf8')
    expect(readFileSync(join(SITE, path), 'utf8')).toBe(skill)
    const [index, full] = ['llms.txt', 'llms-full.txt'].map((name) =>
      readFileSync(join(SITE, name), 'utf8'),
    )
    expect(index).toContain(`(${ADDRESS}${path}): Daily exchange rates`)
    expect(full).toContain(`<!-- ${ADDRESS}${path} -->\n\n${skill}`)
  })

  it('have their address, title, summary and an existing picture in the head, and are in the sitemap', () => {
    const addresses = pages().map((name) => {
      const head = readFileSync(join(SITE, name), 'utf8').split('</head>')[0] ?? ''
      const property = (key: string) =>
        captures(head, new RegExp(`<meta property="og:${key}" content="([^"]+)">`, 'g'))
      const address = ADDRESS + name.replace(/(^|\/)index\.html$/, '$1')
      expect(captures(head, /<link rel="canonical" href="([^"]*)">/g)).toEqual([address])
      expect(property('url')).toEqual([address])
      expect(property('title'), name).toEqual([expect.stringMatching(/\w/)])
      expect(property('description'), name).toEqual([expect.stringMatching(/^\w/)])
      const [picture = ''] = property('image')
      expect(picture.startsWith(ADDRESS)).toBe(true)
      expect(fileOf(picture.slice(ORIGIN.length)), picture).toBeDefined()
      return address
    })
    const sitemap = readFileSync(join(SITE, 'sitemap.xml'), 'utf8')
    expect(captures(sitemap, /<loc>(.*?)<\/loc>/g).toSorted()).toEqual(addresses.toSorted())
  })

  it.each(['owner.example', 'ftp://owner.example', ADDRESS])('are not built for %s', (origin) => {
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, '--origin', origin], {
      encoding: 'utf8',
    })
    expect(status).toBe(1)
    expect(stderr).toContain(`origin must be an http or https URL without a path, got ${origin}`)
  })

  it('link to existing pages and anchors only', () => {
    const texts = new Map(pages().map((name) => [name, readFileSync(join(SITE, name), 'utf8')]))
    const broken = [...texts].flatMap(([name, html]) =>
      captures(html, /<a [^>]*?href="([^"]*)"/g)
        .filter((href) => {
          const target = new URL(href.replaceAll('&amp;', '&'), `http://site${BASE}${name}`)
          if (target.host !== 'site' || target.pathname.startsWith(`${BASE}api/`)) return false
          const file = fileOf(target.pathname)
          const text = file && (texts.get(relative(SITE, file)) ?? '')
          const id = decodeURIComponent(target.hash.slice(1))
          return text === undefined || (id !== '' && !text.includes(` id="${id}"`))
        })
        .map((href) => `${name}: ${href}`),
    )
    expect(broken).toEqual([])
  })
})

describe('the front page', () => {
  it('answers its live example, also offline', async () => {
    const { page, context, foreign } = await open('')
    await answered(page)
    expect(JSON.parse(await page.locator('live-request pre').innerText())).toMatchObject({
      from: 'USD',
      to: 'EUR',
    })
    await context.setOffline(true)
    await page.reload()
    await answered(page)
    await page.locator('live-request select').selectOption({ label: 'An error' })
    await expectText(page, '.live-facts', /^4\d\d error/)
    expect(foreign).toEqual([])
  })

  it('says so where service workers are unavailable', async () => {
    const { page } = await open('')
    await page.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'serviceWorker'))
    await page.reload()
    await expectText(page, '.live-facts', /service workers turned off/)
  })
})

describe.each([390, 768, 1440])('the front page at %i px', (width) => {
  it('shows the picture of the explorer as a card, without a shift or horizontal scroll', async () => {
    const { page } = await open('', { viewport: { width, height: 900 } })
    const picture = page.locator('.VPHero img')
    const { alt, stated, natural } = await picture.evaluate(async (image: HTMLImageElement) => {
      await image.decode()
      const stated = [image.getAttribute('width'), image.getAttribute('height')].map(Number)
      return { alt: image.alt, stated, natural: [image.naturalWidth, image.naturalHeight] }
    })
    expect(stated).toEqual(natural)
    expect(alt).toMatch(/explorer/)
    const card = await picture.boundingBox()
    const text = await page.locator('.VPHero .main').boundingBox()
    if (!card || !text) throw new Error('no picture or no text')
    expect(card.width).toBeGreaterThan(Math.min(width - 64, 540))
    expect(card.y > text.y + text.height, 'below').toBe(width < 960)
    expect(card.x > text.x + text.width, 'beside').toBe(width >= 960)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    expect(await layoutShift(page)).toBeLessThan(0.01)
  })

  it('copies the command that installs the package', async () => {
    const { page, context } = await open('', { viewport: { width, height: 900 } })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.locator('.install button').click()
    await page.locator('.install .copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('npm install ratesmith')
  })
})

/** What strangers ask, and the page with the answer. */
const QUESTIONS = [
  ['webhook', 'recipes/webhooks'],
  ['air-gapped', 'recipes/files-on-a-cdn'],
  ['redis fleet', 'run-it'],
  ['tax law date', 'api'],
  ['keys behind nginx', 'run-it'],
  ['rate limit', 'keys-and-limits'],
  ['rounding', 'numbers'],
  ['prometheus', 'monitoring'],
  ['health check', 'monitoring'],
  ['fake rates in a unit test', 'testing'],
  ['express', 'mounting'],
  ['ledger csv', 'command-line'],
  ['react', 'recipes/react'],
  ['postgres', 'recipes/rates-in-sql'],
  ['cloudflare workers', 'run-it'],
  ['attribution', 'choose-your-rates'],
  ['my own provider', 'writing-providers-and-stores'],
  ['stale rates', 'freshness'],
  ['checkout price', 'recipes/charge-later'],
  ['kubernetes', 'run-it'],
  ['glossary', 'how-it-works'],
] as const

describe('the search', () => {
  it.each(QUESTIONS)('finds for "%s" the page %s among its first three', async (words, answer) => {
    const { page } = await open('introduction.html')
    // The theme hears keys once it has started.
    await page.locator('.VPNavBarTitle.has-sidebar').waitFor({ state: 'attached' })
    await page.keyboard.press('/')
    await page.locator('.VPLocalSearchBox input').fill(words)
    const links = page.locator('.VPLocalSearchBox .results a')
    await links.first().waitFor()
    const found = await links.evaluateAll((all) =>
      all.slice(0, 3).map((link) => link.getAttribute('href')),
    )
    expect(found.join(' ')).toMatch(new RegExp(`${BASE}docs/${answer}(?:\\.html)?(?:#| |$)`))
  })
})

describe('the explorer', () => {
  it('converts in the worker, from its address as the first page', async () => {
    const { page, foreign } = await open('api/')
    await page.locator('#result').waitFor()
    await settled(page)
    await expectValue(page, '#result', /^\d/)
    expect(foreign).toEqual([])
  })
})

describe('the reference of the API', () => {
  it('has every endpoint, and the worker answers the request that each form begins with', async () => {
    const { page, foreign } = await open('endpoints.html')
    const { paths, servers } = JSON.parse(readFileSync(join(SITE, 'api/v1/openapi.json'), 'utf8'))
    expect(servers).toEqual([{ url: `${BASE}api` }])
    const names = Object.entries<object>(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method}-${path}`),
    )
    expect(names.length).toBeGreaterThan(10)
    const shown = await page.locator('[data-operation]').all()
    expect(await Promise.all(shown.map((each) => each.getAttribute('data-operation')))).toEqual(
      names,
    )
    for (const name of names) {
      await page.locator(`[data-operation="${name}"] > summary`).click()
      await page.locator(`[data-operation="${name}"] .btn-execute`).click()
      await expectText(page, `[data-operation="${name}"] .response-message`, /Status: \D*200/)
    }
    expect(await axeViolations(page)).toEqual([])
    expect(foreign).toEqual([])
  })

  it('shows parameters and says why it has no form where service workers are unavailable', async () => {
    const { page } = await open('endpoints.html')
    await page.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'serviceWorker'))
    await page.reload()
    const operation = '[data-operation="get-/v1/convert"]'
    await page.locator(`${operation} > summary`).click()
    await expectText(page, `${operation} [role=status]`, /service workers turned off.*serve --demo/)
    await expectText(page, `${operation} .param-description >> nth=0`, 'Source currency.')
    expect(await page.locator(`${operation} .btn-execute`).count()).toBe(0)
  })
})

const SHOWN = ['', 'docs/api.html', 'docs/recipes/react.html', 'reference/client.html']

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  it.each(SHOWN)(
    '/%s has no violations of accessibility, and needs no other host',
    async (path) => {
      const { page, foreign } = await open(path, { colorScheme })
      if (path === '') await answered(page)
      expect(await axeViolations(page)).toEqual([])
      expect(foreign).toEqual([])
    },
  )

  it.each([390, 1440])(
    'the reference sends a request by keyboard alone at %i px',
    async (width) => {
      const { page, foreign } = await open('endpoints.html', {
        colorScheme,
        viewport: { width, height: 900 },
      })
      // The theme moves the bar of every page with a sidebar once it has started.
      await page.locator('.VPNavBarTitle.has-sidebar').waitFor({ state: 'attached' })
      const shift = await layoutShift(page)
      await page.locator('[data-operation="get-/v1/convert"] > summary').focus()
      await page.keyboard.press('Enter')
      await page.locator('.btn-execute').waitFor()
      await tabTo(page, 'input[data-pname=amount]')
      await page.keyboard.type('250')
      await tabTo(page, '.btn-execute')
      const sent = page.waitForResponse(/\/api\/v1\/convert/)
      await page.keyboard.press('Enter')
      const response = await sent
      expect(response.fromServiceWorker()).toBe(true)
      await expectText(page, '.response-message', /Status: \D*200/)
      expect(JSON.parse(await page.locator('api-request pre').first().innerText())).toEqual(
        await response.json(),
      )
      expect(await response.json()).toMatchObject({ from: 'USD', to: 'EUR', amount: 250 })
      expect(await axeViolations(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
      expect((await layoutShift(page)) - shift).toBeLessThan(0.01)
      expect(foreign).toEqual([])
    },
  )
})
