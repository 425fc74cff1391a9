// Makes the calls given as JSON with the built client, on the service at a URL, and prints the outcomes.
import { RatesError as ErrorOfHandler, createRatesHandler } from 'ratesmith'
import { RatesError, createRatesClient } from 'ratesmith/client'
import { fakeProviders } from 'ratesmith/testing'

const [, , baseUrl = '', calls = ''] = process.argv
const client = createRatesClient({ baseUrl })

const responses: unknown[] = []
for (const [name, params] of JSON.parse(calls))
  responses.push(await Reflect.get(client, name)(params))
const rejection = await reasonOf(client.convert({ from: 'USD', to: 'XYZ' }))

const hanging = createRatesClient({ baseUrl: new URL('/hanging', baseUrl).href })
const abort = await reasonOf(hanging.latest({ signal: AbortSignal.timeout(50) }))
const broken = createRatesClient({ baseUrl: new URL('/broken', baseUrl).href })
const cutOff = await reasonOf(broken.latest())

const handler = createRatesHandler({ providers: fakeProviders() })
const inProcess = createRatesClient({ baseUrl: 'http://localhost/api', fetch: handler })

process.stdout.write(
  JSON.stringify({
    responses,
    rejection: Object(rejection).code,
    isOneClass: rejection instanceof RatesError && RatesError === ErrorOfHandler,
    abort: Object(abort).name,
    cutOff: Object(cutOff).code,
    inProcess: (await inProcess.convert({ from: 'USD', to: 'EUR' })).amount,
  }),
)

function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((reason: unknown) => reason)
}
