import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

import type { AxeResults, RunOptions } from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import type { RatesHandlerOptions } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import { needBrowser, newContext } from './browser-context.ts'
import { serveForSuite } from './commands.ts'
import { listen } from './processes.ts'

needBrowser()
const demo = serveForSuite([])

/**
 * Opens the explorer of `ratesmith serve --demo`, with `fragment` appended to its address. `api` is the URL of its API,
 * and `fetchJson` fetches a path below `/v1/`.
 */
export async function openDemo(fragment = '', options: BrowserContextOptions = {}) {
  const api = `${demo.root}/api`
  const opened = await openExplorer(`${api}${fragment}`, options)
  const fetchJson = async (path: string) => (await fetch(`${api}/v1/${path}`)).json()
  return { ...opened, api, fetchJson }
}

/**
 * Opens the explorer of a handler with synthetic rates, or with other options, with `fragment` appended to its address; `seen`
 * are the paths that it was asked for, with their `Authorization`.
 */
export async function openService(
  options: RatesHandlerOptions = {},
  fragment = '',
  browser: BrowserContextOptions = {},
) {
  const handler = createRatesHandler({ providers: fakeProviders(), explorer: true, ...options })
  const respond = toNodeHandler(handler)
  const seen: string[] = []
  const service = await listen((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization ?? ''}`)
    respond(request, response)
  })
  return { ...service, ...(await openExplorer(`${service.url}/api${fragment}`, browser)), seen }
}

/** Opens the explorer at `url` and waits for its data. Fails the test if `pageErrors` is not empty at its end. */
export async function openExplorer(url: string, options: BrowserContextOptions = {}) {
  const context = await newContext(options)
  const requests: string[] = []
  const pageErrors: string[] = []
  context.on('request', (request) => {
    const { origin, pathname, search } = new URL(request.url())
    const isOwn = origin === new URL(url).origin
    requests.push(`${request.method()} ${isOwn ? '' : origin}${pathname}${search}`)
  })
  const page = await context.newPage()
  page.on('pageerror', ({ message }) => pageErrors.push(message))
  page.on('console', (message) => {
    // The browser also logs every response with an error status; the page shows it.
    if (message.text().startsWith('Failed to load resource')) return
    pageErrors.push(`${message.type()}: ${message.text()}`)
  })
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
      // oxlint-disable-next-line no-console -- the listener above collects it.
      console.error(`violation: ${effectiveDirective} ${blockedURI}`)
    })
  })
  onTestFinished(() => expect(pageErrors).toEqual([]))
  await page.goto(url)
  await settled(page)
  return { page, requests, pageErrors }
}

/** Waits until no part of the page waits for a response. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    [...document.querySelectorAll('main section')].every(
      (section) => section.ariaBusy === 'false' && section.getAttribute('data-state') !== null,
    ),
  )
}

/** Returns how far elements have moved without a recent input, since the page was opened. */
export function layoutShift(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let sum = 0
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) {
            if (!Reflect.get(entry, 'hadRecentInput')) sum += Number(Reflect.get(entry, 'value'))
          }
        }).observe({ type: 'layout-shift', buffered: true })
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)))
      }),
  )
}

/** Returns the id of the element around the largest text that was painted before an input. */
export function largestPaint(page: Page): Promise<string> {
  return page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        new PerformanceObserver((list) => {
          const element: Element = Reflect.get(list.getEntries().at(-1) ?? {}, 'element')
          resolve(element.closest('[id]')?.id ?? '')
        }).observe({ type: 'largest-contentful-paint', buffered: true })
      }),
  )
}

/** Returns the violations that axe-core finds, one line each. */
export async function axeViolations(page: Page): Promise<string[]> {
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
  // Bypasses the policy of the page, unlike a script element.
  await page.evaluate(readFileSync(axe, 'utf8'))
  // Old data, and fading elements, have intermediate colours.
  await settled(page)
  await page.waitForFunction(() => document.getAnimations().length === 0)
  const options: RunOptions = { rules: { 'target-size': { enabled: true } } }
  const { violations, passes } = await page.evaluate<AxeResults, RunOptions>(
    (options) => Reflect.get(globalThis, 'axe').run(options),
    options,
  )
  expect(passes.length).toBeGreaterThan(20)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary}`),
  )
}

/** Returns the requests for a history of the chart. */
export function chartRequests(requests: readonly string[]): string[] {
  return requests.filter((request) => request.includes('/v1/history'))
}

/** Types `text` into the combobox at `selector`, and chooses the best match. */
export async function choose(page: Page, selector: string, text: string): Promise<void> {
  const field = page.locator(selector)
  await field.fill(text)
  await page.locator(`${selector}-list [aria-selected=true]`).waitFor()
  await field.press('Enter')
}

/** Presses Tab, or `key`, until the element at `selector` has the focus. */
export async function tabTo(
  page: Page,
  selector: string,
  key: 'Tab' | 'Shift+Tab' = 'Tab',
): Promise<void> {
  for (let count = 0; count < 60; count += 1) {
    await page.keyboard.press(key)
    if (await page.locator(`${selector}:focus`).count()) return
  }
  throw new Error(`Tab does not reach ${selector}`)
}

/** Waits until the field at `selector` has `value`. */
export async function expectValue(page: Page, selector: string, value: string | RegExp) {
  await expect
    .poll(() => page.locator(selector).inputValue())
    .toEqual(value instanceof RegExp ? expect.stringMatching(value) : value)
}

export async function textOf(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).innerText()).trim()
}

export async function expectText(page: Page, selector: string, text: string | RegExp) {
  await expect.poll(() => textOf(page, selector)).toMatch(text)
}

/** Formats an amount with two digits after the point, and groups of thousands. */
export function grouped(amount: number): string {
  return amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
}
