// npm install ratesmith && npm pkg set type=module
// node --test unit-test.ts
//
// Tests code that needs rates, without a network and with the same rates in every run.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { RatesError, createRates } from 'ratesmith'
import type { RatesOperations } from 'ratesmith'
import { failingProvider, fakeClock, fixedProviders } from 'ratesmith/testing'

const DAY = 86_400_000

/** Code under test: returns a price in the customer's currency, or in euros if no rates are available. */
async function priceTag(rates: RatesOperations, euros: number, currency: string): Promise<string> {
  try {
    const { result, updatedAt } = await rates.convert({ from: 'EUR', to: currency, amount: euros })
    const day = new Date(updatedAt).toISOString().slice(0, 10)
    return `${result.toFixed(2)} ${currency} (rates of ${day})`
  } catch (error) {
    const isDown = error instanceof RatesError && error.code === 'provider_unavailable'
    if (isDown) return `${euros.toFixed(2)} EUR`
    throw error
  }
}

test('shows a price in the currency of the customer', async () => {
  const providers = fixedProviders({ base: 'EUR', rates: { USD: 2 } }) // 1 EUR = 2 USD
  const rates = createRates({ providers })
  assert.match(await priceTag(rates, 10, 'USD'), /^20\.00 USD /)
})

test('uses the rates of the next day', async () => {
  const now = fakeClock('2026-11-20T18:00:00Z')
  const providers = fixedProviders({ base: 'EUR', rates: { USD: 2 } })
  const rates = createRates({ now, providers })
  assert.equal(await priceTag(rates, 10, 'USD'), '20.00 USD (rates of 2026-11-20)')
  now.advance(DAY)
  await rates.refresh()
  assert.equal(await priceTag(rates, 10, 'USD'), '20.00 USD (rates of 2026-11-21)')
})

test('shows a price for days while the upstream is down', async () => {
  const now = fakeClock('2026-11-20T18:00:00Z')
  const upstream = failingProvider('unreachable', { after: 1 })
  const providers = { latest: upstream, history: upstream }
  const rates = createRates({ now, providers })
  const before = await priceTag(rates, 100, 'USD')
  now.advance(5 * DAY)
  await rates.refresh()
  assert.equal(await priceTag(rates, 100, 'USD'), before)
  now.advance(5 * DAY)
  assert.equal(await priceTag(rates, 100, 'USD'), '100.00 EUR')
})

test('shows a price in euros until there are rates', async () => {
  const now = fakeClock()
  const upstream = failingProvider('rate-limited', { times: 1 })
  const rates = createRates({ now, providers: { latest: upstream, history: upstream } })
  assert.equal(await priceTag(rates, 100, 'USD'), '100.00 EUR')
  now.advance(20 * 60_000)
  assert.match(await priceTag(rates, 100, 'USD'), /USD/)
})
