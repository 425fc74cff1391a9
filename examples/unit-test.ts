// npm install ratesmith && npm pkg set type=module
// node --test unit-test.ts
//
// How to test code of your own that needs rates: without a network, and with the same rates every time.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createRatesHandler } from 'ratesmith'
import type { LatestProvider, RatesOperations } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

/** The code under test: the price in the customer's currency, or the one in euros where there are no rates. */
async function priceTag(rates: RatesOperations, euros: number, currency: string): Promise<string> {
  try {
    const { result } = await rates.convert({ from: 'EUR', to: currency, amount: euros })
    return `${result.toFixed(2)} ${currency}`
  } catch {
    return `${euros.toFixed(2)} EUR`
  }
}

test('a price is shown in the currency of the customer', async () => {
  const now = (): number => Date.UTC(2026, 10, 20, 18)
  const { rates } = createRatesHandler({ providers: fakeProviders({ seed: 7, now }), now })
  const { rate } = await rates.convert({ from: 'EUR', to: 'USD' })
  assert.equal(await priceTag(rates, 100, 'USD'), `${(100 * rate).toFixed(2)} USD`)
  assert.equal(await priceTag(rates, 100, 'EUR'), '100.00 EUR')
})

test('a price is shown in euros while there are no rates', async () => {
  const down: LatestProvider = {
    attribution: { name: 'Down', url: 'https://down.example' },
    fetchLatest: () => Promise.reject(new Error('down')),
  }
  const { rates } = createRatesHandler({ providers: { latest: down } })
  assert.equal(await priceTag(rates, 100, 'USD'), '100.00 EUR')
})
