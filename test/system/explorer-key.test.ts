import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import { createAccess, createKey } from 'ratesmith/access'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import {
  axeViolations,
  choose,
  expectText,
  openDemo,
  openExplorer,
  settled,
  tabTo,
  textOf,
} from './explorer-page.ts'
import { listen } from './processes.ts'

const CARD = 'This service needs a key'
const PHONE = { width: 390, height: 844 }

const { key, hash } = await createKey()

/** Opens the explorer of a service with a key; `anonymous` is the plan of requests without one. */
async function openGuarded(anonymous?: string, options: BrowserContextOptions = {}) {
  const handler = createRatesHandler({
    providers: fakeProviders(),
    explorer: true,
    access: createAccess({
      plans: { paid: '1000/min', small: '1/h', monthly: '100/min, 1/month' },
      anonymous,
      keys: { find: (given) => (given === hash ? { id: 'acme', plan: 'paid' } : undefined) },
    }),
  })
  const seen: string[] = []
  const { url } = await listen((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization ?? ''}`)
    toNodeHandler(handler)(request, response)
  })
  return { ...(await openExplorer(`${url}/api`, options)), seen }
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

it('shows one card, sends the key with every request, and keeps it nowhere else', async () => {
  const { page, requests, seen } = await openGuarded(undefined, { viewport: PHONE })
  await expectText(page, '#access-title', CARD)
  expect(await textOf(page, '#key-reason')).toMatch(/\bkey\b/)
  expect(await page.locator(':is(section, [role=alert]):visible').count()).toBe(0)
  expect(await page.locator('#key').getAttribute('name')).toBeNull()
  expect(await axeViolations(page)).toEqual([])
  const before = seen.length
  await enter(page, 'two words')
  expect(await page.locator('#key').getAttribute('aria-invalid')).toBe('true')
  expect(await textOf(page, '#key-state')).toMatch(/^A key has /)
  expect(seen).toHaveLength(before)
  await enter(page, 'wrong')
  await expectText(page, '#key-state', 'The service refused the key')
  expect(await page.locator('#key').getAttribute('aria-invalid')).toBe('false')
  expect(await page.locator('section:visible').count()).toBe(0)
  seen.splice(0)
  await page.fill('#key', '')
  await page.locator('#key').focus()
  await page.keyboard.type(` ${key} `)
  await tabTo(page, '#use-key')
  await page.keyboard.press('Enter')
  await expectText(page, '#rate', / EUR$/)
  await settled(page)
  expect(await textOf(page, '#key-state')).toBe('Requests are sent with the key')
  expect(seen).toHaveLength(4)
  await choose(page, '#to', 'JPY')
  await expectText(page, '#rate', / JPY$/)
  for (const line of seen) expect(line).toMatch(/^\/api\/v1\/[^ ]+ Bearer rsk_\w+$/)
  await page.locator('#converter summary').click()
  for (const form of ['curl', 'fetch', 'Python', 'client']) {
    await page.locator('#converter .copies').getByText(form, { exact: true }).click()
    await expectText(page, '#converter .snippet', /YOUR_KEY/)
  }
  // A link would send no key.
  expect(await page.locator('#converter .asked').getAttribute('href')).toBeNull()
  expect(await axeViolations(page)).toEqual([])
  await expect.poll(() => new URL(page.url()).hash).toContain('to=JPY')
  expect(await textsOf(page)).not.toContain(key)
  expect(requests.join('\n')).not.toContain(key)
  await page.locator('#forget-key').click()
  await expectText(page, '#access-title', CARD)
  expect(await page.locator('#key:focus').count()).toBe(1)
  expect(await page.locator('#forget-key').isVisible()).toBe(false)
  await enter(page, key)
  await expectText(page, '#rate', / JPY$/)
  await page.reload()
  await expectText(page, '#access-title', CARD)
  expect(await textsOf(page)).not.toContain(key)
})

it.each([
  ['small', /^Retrying in \d+ s$/],
  // A timer of more than 24.8 days would end at once.
  ['monthly', /^(Possible again on \d+ \w{3} \d{4}, \d\d:\d\d UTC|Retrying in \d+ s)$/],
])('explains the limit of the plan %s, and takes a key from the menu', async (plan, waiting) => {
  const { page, seen } = await openGuarded(plan)
  const panel = page.locator('section[data-state=failed]').first()
  expect(await panel.locator('[role=alert]').innerText()).toMatch(
    /1 request per (hour|month) on plan .* Wait, or enter an API key .* in the menu ⋯ above\.$/,
  )
  expect(await panel.locator('.waiting').innerText()).toMatch(waiting)
  expect(await page.locator('#access').isVisible()).toBe(false)
  expect(seen.filter((line) => line.startsWith('/api/v1/'))).toHaveLength(4)
  await page.locator('#menu').click()
  await page.locator('#enter-key').click()
  expect(await page.locator('#key:focus').count()).toBe(1)
  await page.keyboard.type(key)
  await page.keyboard.press('Enter')
  await expectText(page, '#key-state', 'Requests are sent with the key')
  await expect.poll(() => seen.filter((line) => line.endsWith(key)).length).toBeGreaterThan(2)
})

it('offers a key in the menu only where the service has keys', async () => {
  const { page, requests } = await openDemo()
  const offered = page.getByRole('button', { name: 'API key' })
  await page.locator('#menu').click()
  await expect.poll(() => requests.join()).toContain('/api/v1/openapi.json')
  await page.getByRole('button', { name: 'Copy link' }).waitFor()
  expect(await offered.isVisible()).toBe(false)
  const guarded = await openGuarded('paid')
  await guarded.page.locator('#menu').click()
  await guarded.page.getByRole('button', { name: 'API key' }).click()
  expect(await textOf(guarded.page, '#access-title')).toBe('API key')
  expect(await guarded.page.locator('section:visible').count()).toBe(3)
})
