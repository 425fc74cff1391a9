// npm install ratesmith && npm pkg set type=module
// node --test unit-test.ts
//
// How to test code of your own that needs rates: without a network, and with the same rates every time.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createRatesHandler } from 'ratesmith'
import { failingProvider, fakeClock, fakeProviders } from 'ratesmith/testing'

const DAY = 86_400_000

/** Answers requests: the handler, or an app that has it mounted. */
type App = (request: Request) => Promise<Response>

/** The code under test: a price in the customer's currency, or in euros while there are no rates. */
async function priceTag(app: App, euros: number, currency: string): Promise<string> {
  const query = `from=EUR&to=${currency}&amount=${euros}`
  const response = await app(new Request(`http://localhost/api/v1/convert?${query}`))
  if (!response.ok) return `${euros.toFixed(2)} EUR`
  const { result, updatedAt } = (await response.json()) as { result: number; updatedAt: number }
  const day = new Date(updatedAt).toISOString().slice(0, 10)
  return `${result.toFixed(2)} ${currency} (rates of ${day})`
}

test('a price is shown in the currency of the customer', async () => {
  const now = fakeClock('2026-11-20T18:00:00Z')
  const app = createRatesHandler({ now, providers: fakeProviders({ seed: 7 }) })
  const { result } = await app.rates.convert({ from: 'EUR', to: 'USD', amount: 100 })
  assert.equal(await priceTag(app, 100, 'USD'), `${result.toFixed(2)} USD (rates of 2026-11-20)`)
})

test('a price follows the rates of the next day', async () => {
  const now = fakeClock('2026-11-20T18:00:00Z')
  const app = createRatesHandler({ now, providers: fakeProviders() })
  await priceTag(app, 100, 'USD')
  now.advance(DAY)
  await app.refresh()
  assert.match(await priceTag(app, 100, 'USD'), /rates of 2026-11-21/)
})

test('a price is shown for days while the upstream is down', async () => {
  const now = fakeClock('2026-11-20T18:00:00Z')
  const upstream = failingProvider('unreachable', { after: 1 })
  const app = createRatesHandler({ now, providers: { latest: upstream, history: upstream } })
  const before = await priceTag(app, 100, 'USD')
  now.advance(5 * DAY)
  await app.refresh()
  assert.equal(await priceTag(app, 100, 'USD'), before)
  now.advance(5 * DAY)
  assert.equal(await priceTag(app, 100, 'USD'), '100.00 EUR')
})

test('a price is shown in euros until there are rates', async () => {
  const now = fakeClock()
  const upstream = failingProvider('rate-limited', { times: 1 })
  const app = createRatesHandler({ now, providers: { latest: upstream, history: upstream } })
  assert.equal(await priceTag(app, 100, 'USD'), '100.00 EUR')
  now.advance(20 * 60_000)
  assert.match(await priceTag(app, 100, 'USD'), /USD/)
})
