import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { createExchangeRateApiProvider, createFrankfurterProvider } from '../src/index.ts'
import type { Attribution } from '../src/index.ts'
import { createCurrencyapiProvider } from '../src/providers/currencyapi.ts'
import { createEcbDataApiProvider, createEcbProvider } from '../src/providers/ecb.ts'
import { createExchangeRateApiV6Provider } from '../src/providers/exchange-rate-api-v6.ts'
import { createFawazahmed0Provider } from '../src/providers/fawazahmed0.ts'
import {
  createFrankfurterV2EcbProvider,
  createFrankfurterV2Provider,
} from '../src/providers/frankfurter-v2.ts'
import { createOpenExchangeRatesProvider } from '../src/providers/open-exchange-rates.ts'

const page = readFileSync(new URL('../docs/attribution.md', import.meta.url), 'utf8')

const key = 'a-key'

const PROVIDERS: { attribution: Attribution; name: string }[] = [
  { name: 'createCurrencyapiProvider', ...createCurrencyapiProvider({ key }) },
  { name: 'createEcbDataApiProvider', ...createEcbDataApiProvider() },
  { name: 'createEcbProvider', ...createEcbProvider() },
  { name: 'createExchangeRateApiProvider', ...createExchangeRateApiProvider() },
  { name: 'createExchangeRateApiV6Provider', ...createExchangeRateApiV6Provider({ key }) },
  { name: 'createFawazahmed0Provider', ...createFawazahmed0Provider() },
  { name: 'createFrankfurterProvider', ...createFrankfurterProvider() },
  { name: 'createFrankfurterV2EcbProvider', ...createFrankfurterV2EcbProvider() },
  { name: 'createFrankfurterV2Provider', ...createFrankfurterV2Provider() },
  { name: 'createOpenExchangeRatesProvider', ...createOpenExchangeRatesProvider({ key }) },
]

describe('the page on attribution', () => {
  it.each(PROVIDERS)('says how $name is shown', ({ name, attribution }) => {
    const rows = page.split('\n').filter((line) => line.startsWith(`| \`${name}()\` `))
    expect(rows).toHaveLength(1)
    const [, , shown = ''] = (rows[0] ?? '').split('|')
    expect(shown.trim()).toBe(`\`${attribution.name}\``)
  })

  it('has a row for every provider, and for nothing else', () => {
    const named = [...page.matchAll(/^\| `(create\w+)\(\)` /gm)].map(([, name]) => name)
    expect(named).toHaveLength(PROVIDERS.length)
    expect(new Set(named)).toEqual(new Set(PROVIDERS.map(({ name }) => name)))
  })
})
