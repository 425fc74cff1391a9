// npm install ratesmith && npm pkg set type=module
// npx ratesmith serve --demo & node client.ts http://127.0.0.1:8787/api
//
// Calls a remote service with types, a time limit, and a message for each failure.
import { RatesError, createRatesClient } from 'ratesmith/client'

const [, , baseUrl = 'http://127.0.0.1:8787/api'] = process.argv
const client = createRatesClient({ baseUrl })

/** Returns the value of one euro in three currencies. */
async function priceList(): Promise<string> {
  const { rates, source } = await client.latest({
    base: 'EUR',
    symbols: ['USD', 'GBP', 'JPY'],
    signal: AbortSignal.timeout(5_000),
  })
  // The compiler accepts only these three codes.
  return `1 EUR = ${rates.USD} USD = ${rates.GBP} GBP = ${rates.JPY} JPY (${source.name})`
}

try {
  console.log(await priceList())
  console.log(await client.convert({ from: 'EUR', to: 'ABC' }))
} catch (error) {
  if (!(error instanceof RatesError)) throw error
  const later = error.retryAfter === undefined ? '' : `, try again in ${error.retryAfter} s`
  console.log(`${error.code}: ${error.message}${later}`)
}
