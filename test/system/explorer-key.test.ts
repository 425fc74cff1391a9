import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import { createAccess, createKey } from 'ratesmith/access'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import {
  choose,
  axeViolations,
  expectText,
  openExplorer,
  openService,
  settled,
  tabTo,
  textOf,
} from './explorer-page.ts'
import { listen } from './processes.ts'

const PANELS = ['#converter', '#chart', '#table']

const { key, hash } = await createKey()

/** Opens the explorer of a service with a key; `anonymous` is the plan of requests without one. */
async function openGuarded(anonymous?: 'small' | 'monthly') {
  const handler = createRatesHandler({
    providers: fakeProviders(),
    explorer: true,
    access: createAccess({
      plans: {
        paid: '1000/min',
        small: '1/h',
        monthly: '100/min, 1/month',
      },
      anonymous,
      keys: { find: (given) => (given === hash ? { id: 'acme', plan: 'paid' } : undefined) },
    }),
  })
  const seen: string[] = []
  const { url } = await listen((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization ?? ''}`)
    toNodeHandler(handler)(request, response)
  })
  return { ...(await openExplorer(`${url}/api`)), seen, api: `${url}/api` }
}

async function enter(page: Page, text: string): Promise<void> {
  await page.fill('#key', text)
  await page.locator('#use-key').click()
}

/** Returns every text that a page shows, keeps or stores. */
async function textsOf(page: Page): Promise<string> {
  const inPage = await page.evaluate(async () => {
    const values = [...document.querySelectorAll('input')].map(({ value }) => value)
    const databases = await indexedDB.databases()
    return [
      document.documentElement.outerHTML,
      ...values,
      location.href,
      document.title,
      document.cookie,
      JSON.stringify(history.state),
      name,
      JSON.stringify(Object.entries(localStorage)),
      JSON.stringify(Object.entries(sessionStorage)),
      JSON.stringify(databases),
      JSON.stringify(await caches.keys().catch(() => [])),
      ...performance.getEntries().map((entry) => entry.name),
    ].join('\n')
  })
  return inPage + JSON.stringify(await page.context().storageState())
}

describe('the explorer of a service that requires a key', () => {
  it('shows a field for the key, sends the key with every request, and keeps it nowhere else', async () => {
    const { page, requests, seen } = await openGuarded()
    for (const panel of PANELS) {
      expect(await textOf(page, `${panel} [role=alert]`)).toMatch(/ key .*\. Enter an API key at /)
      expect(await page.locator(`${panel} .retry`).isVisible()).toBe(false)
    }
    expect(await page.locator('#access').getAttribute('open')).not.toBeNull()
    expect(await page.locator('#forget-key').isVisible()).toBe(false)
    seen.splice(0)
    await enter(page, ` ${key} `)
    await expectText(page, '#result', / EUR$/)
    await settled(page)
    expect(await textOf(page, '#key-state')).toBe('Requests are sent with the key')
    expect(seen.length).toBeGreaterThanOrEqual(4)
    for (const line of seen) expect(line).toMatch(/^\/api\/v1\/[^ ]+ Bearer rsk_\w+$/)
    await choose(page, '#to', 'JPY')
    await expectText(page, '#result', / JPY$/)
    for (const form of ['curl', 'fetch', 'client']) {
      await page.locator(`#converter [data-form=${form}]`).click()
      await expectText(page, '#converter .snippet', /YOUR_KEY/)
    }
    await expect.poll(() => new URL(page.url()).hash).toContain('to=JPY')
    expect(await page.inputValue('#key')).toBe('')
    expect(await textsOf(page)).not.toContain(key)
    expect(requests.join('\n')).not.toContain(key)
    await page.reload()
    await settled(page)
    expect(await textOf(page, '#table [role=alert]')).toContain('Enter an API key')
    expect(await textsOf(page)).not.toContain(key)
  })

  it('shows a wrong key as an error, and works after the right one', async () => {
    const { page, seen } = await openGuarded()
    const before = seen.length
    await enter(page, 'two words')
    expect(await page.locator('#key').getAttribute('aria-invalid')).toBe('true')
    expect(await textOf(page, '#key-state')).toMatch(/^A key has /)
    expect(seen).toHaveLength(before)
    await enter(page, 'wrong')
    await expect.poll(() => seen.filter((line) => line.endsWith(' Bearer wrong')).length).toBe(4)
    await settled(page)
    expect(await page.locator('#key').getAttribute('aria-invalid')).toBe('false')
    expect(await textOf(page, '#converter [role=alert]')).toContain('Enter an API key')
    await page.fill('#key', key)
    await page.locator('#key').press('Enter')
    await expectText(page, '#result', / EUR$/)
    await page.locator('#forget-key').click()
    await expectText(page, '#key-state', 'Requests are sent without a key')
    await expectText(page, '#converter [role=alert]', /Enter an API key/)
    expect(await page.locator('#key:focus').count()).toBe(1)
    await page.locator('#converter [data-form=curl]').click()
    await expectText(page, '#converter .snippet', /^curl 'http/)
  })

  it('can be used with the keyboard, and has no accessibility violations', async () => {
    const { page } = await openGuarded()
    expect(await axeViolations(page)).toEqual([])
    await tabTo(page, '#key')
    await page.keyboard.type(key)
    await tabTo(page, '#use-key')
    await page.keyboard.press('Enter')
    await expectText(page, '#result', / EUR$/)
    expect(await axeViolations(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await axeViolations(page)).toEqual([])
  })
})

describe('the explorer of a service with limits', () => {
  it('explains a limit that ends soon, and retries', async () => {
    const { page } = await openGuarded('small')
    const limited = PANELS.map((panel) => page.locator(`${panel}[data-state=failed]`))
    await expect
      .poll(async () => (await Promise.all(limited.map((each) => each.count()))).join(''))
      .toMatch(/1/)
    const panel = page.locator('section[data-state=failed]').first()
    expect(await panel.locator('[role=alert]').innerText()).toMatch(
      /1 request per hour on plan small; retry in \d+ s\. Wait, or enter an API key/,
    )
    expect(await panel.locator('.waiting').innerText()).toMatch(/^Retrying in \d+ s$/)
    expect(await panel.locator('.retry button').isVisible()).toBe(true)
    await enter(page, key)
    await expectText(page, '#result', / EUR$/)
  })

  it('waits with no timer for a limit that ends later', async () => {
    const { page, seen } = await openGuarded('monthly')
    const panel = page.locator('section[data-state=failed]').first()
    const waiting = await panel.locator('.waiting').innerText()
    const isSoon = /^Retrying in \d+ s$/.test(waiting)
    expect(isSoon || /^Possible again in \d+ \w+$/.test(waiting)).toBe(true)
    // A timer of more than 24.8 days would end at once.
    expect(seen.filter((line) => line.startsWith('/api/v1/'))).toHaveLength(4)
  })
})

it('offers the field on every page, closed', async () => {
  const { page } = await openService()
  expect(await page.locator('#access').getAttribute('open')).toBeNull()
  expect(await page.locator('#key').isVisible()).toBe(false)
  await page.locator('#access summary').click()
  expect(await page.locator('#key').getAttribute('type')).toBe('password')
  expect(await page.locator('#key').getAttribute('name')).toBeNull()
  expect(await page.locator('#key').isVisible()).toBe(true)
})
