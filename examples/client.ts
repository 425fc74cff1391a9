// npm install ratesmith && npm pkg set type=module
// npx ratesmith serve --demo & node client.ts http://127.0.0.1:8787/api
//
// How to ask a service that runs elsewhere: with types, a time limit, and something to show when there are no rates.
import { RatesError, createRatesClient } from 'ratesmith/client'

const [, , baseUrl = 'http://127.0.0.1:8787/api'] = process.argv
const client = createRatesClient({ baseUrl })

/** One euro in the currencies of our shop. */
async function priceList(): Promise<string> {
  const { rates, source } = await client.latest({
    base: 'EUR',
    symbols: ['USD', 'GBP', 'JPY'],
    signal: AbortSignal.timeout(5_000),
  })
  // The compiler knows these three, and no others.
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
