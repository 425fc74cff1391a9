// Rates for a test, without any network: `npx node examples/offline.ts`
import assert from 'node:assert/strict'

import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

const handler = createRatesHandler({ providers: fakeProviders({ seed: 7 }) })

const response = await handler(
  new Request('http://localhost/api/v1/convert?from=USD&to=EUR&amount=2'),
)
const { rate, result } = (await response.json()) as { rate: number; result: number }
assert.equal(response.status, 200)
assert.equal(result, 2 * rate)
console.log(`2 USD = ${result} EUR (synthetic)`)
