// Asks the service at the URL it is given with the built client, and prints what that says, as JSON.
import { RatesError as ErrorOfHandler, createRatesHandler } from 'ratesmith'
import { RatesError, createRatesClient } from 'ratesmith/client'
import { fakeProviders } from 'ratesmith/testing'

const [, , baseUrl = ''] = process.argv
const client = createRatesClient({ baseUrl })
const pair = { from: 'USD', to: 'EUR' } as const

const first = await client.latest({ symbols: ['EUR', 'USD'] })
const again = await client.latest({ symbols: ['EUR', 'USD'] })
const { result } = await client.convert({ ...pair, amount: 100 })
const { points } = await client.history(pair)
const { results } = await client.convert({ from: 'USD', to: ['EUR'], reverse: true })
const dated = await client.latest({ symbols: ['EUR'], date: '2020-02-29' })
const range = await client.history({ ...pair, start: '1999-01-04', interval: 'month' })
const { currencies } = await client.currencies()
const refusal = await reasonOf(client.convert({ from: 'USD', to: 'XYZ' }))

const hanging = createRatesClient({ baseUrl: new URL('/hanging', baseUrl).href })
const left = await reasonOf(hanging.latest({ signal: AbortSignal.timeout(50) }))
const broken = createRatesClient({ baseUrl: new URL('/broken', baseUrl).href })
const cutOff = await reasonOf(broken.latest())

const handler = createRatesHandler({ providers: fakeProviders() })
const inProcess = createRatesClient({ baseUrl: 'http://localhost/api', fetch: handler })

process.stdout.write(
  JSON.stringify({
    rates: Object.keys(first.rates),
    isSame: JSON.stringify(again) === JSON.stringify(first),
    result,
    days: points.length,
    results,
    day: dated.date,
    months: range.points.length,
    currencies: currencies.length,
    refusal: Object(refusal).code,
    isOneClass: refusal instanceof RatesError && RatesError === ErrorOfHandler,
    left: Object(left).name,
    cutOff: Object(cutOff).code,
    inProcess: (await inProcess.convert(pair)).amount,
  }),
)

/** What `promise` rejects with. */
function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((reason: unknown) => reason)
}
