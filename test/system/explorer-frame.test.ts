import { describe, expect, it } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import {
  axeViolations,
  expectText,
  layoutShift,
  openDemo,
  openExplorer,
  settled,
  tabTo,
  textOf,
} from './explorer-page.ts'
import { listen } from './processes.ts'

describe('the frame of the page', () => {
  it('shows the response of each request, with its facts', async () => {
    const { page, api } = await openDemo()
    const asked = page.locator('#converter .asked')
    const path = '/v1/convert?from=USD&to=EUR&amount=100'
    expect(await asked.getAttribute('href')).toBe(api + path)
    await page.locator('#converter .response summary').click()
    await expectText(
      page,
      '#converter .facts',
      /^Status 200 · \d+ ms · \d+ B · Cache-Status: rates/,
    )
    const shown = JSON.parse(await textOf(page, '#converter .response pre'))
    expect(shown).toEqual(await (await fetch(api + path)).json())
    expect(await axeViolations(page)).toEqual([])
  })

  it('has its whole view in the address, and the time of publication', async () => {
    const { page } = await openDemo()
    expect(new URL(page.url()).hash).toContain('#amount=100&from=USD&to=EUR')
    expect(await page.locator('#converter .age').getAttribute('title')).toMatch(/ GMT$/)
    await expectText(page, '#badge', 'Synthetic data')
  })

  it.each(['light', 'dark'])('keeps the theme %s', async (theme) => {
    const { page } = await openDemo('', { colorScheme: theme === 'dark' ? 'light' : 'dark' })
    await page.selectOption('#theme', theme)
    await page.reload()
    await settled(page)
    const scheme = () => getComputedStyle(document.documentElement).colorScheme
    expect(await page.evaluate(scheme)).toBe(theme)
    expect(await axeViolations(page)).toEqual([])
  })

  it('keeps old data while the service is away, and recovers by itself', async () => {
    const { page } = await openDemo()
    const before = await textOf(page, '#result')
    await page.route(/convert/, (route) => route.abort())
    await page.locator('#amount').fill('7')
    await expectText(page, '#converter .waiting', /^Retrying in \d+ s$/)
    expect(await textOf(page, '#result')).toBe(before)
    await expectText(page, '#converter .old', /as of/)
    await page.unroute(/convert/)
    await expect.poll(() => textOf(page, '#given'), { timeout: 60_000 }).toMatch(/^7/)
    expect(await page.locator('#converter .notice').isVisible()).toBe(false)
  })

  it('recovers by itself after a restart of the server, and greys old data until then', async () => {
    const handler = createRatesHandler({ providers: fakeProviders(), explorer: true })
    const { url, server, close } = await listen(toNodeHandler(handler))
    const { page } = await openExplorer(`${url}/api`)
    const colour = () =>
      page.locator('#result').evaluate((element) => getComputedStyle(element).color)
    const [before, result] = [await colour(), await textOf(page, '#result')]
    await close()
    await page.locator('#amount').fill('7')
    await expectText(page, '#converter .waiting', /^Retrying in \d+ s$/)
    expect(await textOf(page, '#result')).toBe(result)
    expect(await colour()).not.toBe(before)
    server.listen(Number(new URL(url).port), '127.0.0.1')
    await expect.poll(() => textOf(page, '#given'), { timeout: 60_000 }).toMatch(/^7 /)
    expect(await colour()).toBe(before)
    expect(await page.locator('#converter .notice').isVisible()).toBe(false)
  })

  it.each([390, 768, 1440])('does not move while it loads, %d px wide', async (width) => {
    const { page } = await openDemo('', { viewport: { width, height: 900 } })
    const cdp = await page.context().newCDPSession(page)
    const slow = {
      offline: false,
      latency: 300,
      downloadThroughput: 50_000,
      uploadThroughput: 50_000,
    }
    await cdp.send('Network.emulateNetworkConditions', slow)
    await page.reload()
    await settled(page)
    expect(await layoutShift(page)).toBeLessThanOrEqual(0.02)
  })
})

it('shows links to the API without scripts', async () => {
  const { page, api } = await openDemo()
  const browser = page.context().browser()
  const context = await browser?.newContext({ javaScriptEnabled: false })
  const plain = await context?.newPage()
  await plain?.goto(api)
  expect(await plain?.locator('noscript a').count()).toBe(3)
  expect(await plain?.locator('main section').first().isVisible()).toBe(false)
  await context?.close()
})

it('describes every endpoint in the API tab, to try with the keyboard', async () => {
  const { page, requests } = await openDemo()
  expect(requests.join()).not.toContain('explorer-api.js')
  await tabTo(page, '[data-tab=api]')
  await page.keyboard.press('Enter')
  await page.locator('#api article summary').nth(1).waitFor()
  expect(new URL(page.url()).hash).toContain('tab=api')
  await page.locator('#api article summary').nth(1).focus()
  await page.keyboard.press('Enter')
  await page.locator('#api form button').first().press('Enter')
  await expectText(page, '#api .facts', /^Status 200/)
  await page.locator('#api article summary').filter({ hasText: 'POST' }).click()
  await page.getByRole('button', { name: 'Send POST' }).click()
  await expect.poll(() => page.locator('#api .facts').nth(1).innerText()).toMatch(/^Status 200/)
  expect(await page.locator('#api tbody tr').count()).toBeGreaterThan(10)
  expect(await axeViolations(page)).toEqual([])
})
