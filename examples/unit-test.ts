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
    const { result } = await rates.convert({ from: 'EUR', to: currency, amount: euros })
    return `${result.toFixed(2)} ${currency}`
  } catch (error) {
    const isDown = error instanceof RatesError && error.code === 'provider_unavailable'
    if (isDown) return `${euros.toFixed(2)} EUR`
    throw error
  }
}

test('shows a price in the currency of the customer', async () => {
  const providers = fixedProviders({ base: 'EUR', rates: { USD: 2 } }) // 1 EUR = 2 USD
  assert.equal(await priceTag(createRates({ providers }), 10, 'USD'), '20.00 USD')
})

test('shows it for days while the upstream is down, then in euros', async () => {
  const now = fakeClock('2026-11-20T18:00:00Z')
  const upstream = failingProvider('unreachable', { after: 1 })
  const rates = createRates({ now, providers: { latest: upstream, history: upstream } })
  const before = await priceTag(rates, 100, 'USD')
  now.advance(5 * DAY)
  await rates.refresh()
  assert.equal(await priceTag(rates, 100, 'USD'), before)
  now.advance(5 * DAY)
  assert.equal(await priceTag(rates, 100, 'USD'), '100.00 EUR')
})
