import { describe, expect, it } from 'vitest'

import { toDineroRates } from '../../src/money/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { METALS, good } from '../fixtures/feed.ts'
import type { Feed } from '../fixtures/feed.ts'
import { FEEDS as FAWAZAHMED0 } from '../fixtures/feeds/fawazahmed0.ts'
import { FEEDS as KEYED } from '../fixtures/feeds/keyed.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { DAY, virtualRuntime } from '../virtual-runtime.ts'
import { NOW } from './upstream.ts'

const FEEDS = Object.entries({ ...FAWAZAHMED0, ...KEYED }).filter(
  ([name]) => name !== 'createExchangeRateApiV6Provider()',
)

const SYMBOLS = Object.keys(METALS).join()

/** Opens a handler of `feed`, or of the synthetic market, whose responses `edit` may change. */
function open(feed?: Feed) {
  const runtime = virtualRuntime(NOW)
  const world = { edit: (body: string) => body }
  const latest = Object.assign(fakeProviders({ now: runtime.now }).latest, feed?.create())
  const { handler, get } = recordedHandler(runtime, {
    providers: { latest, history: false },
    fetch: async () => new Response(feed && world.edit(await good(feed, {}, runtime.now()).text())),
  })
  async function read(target: string) {
    const response = await get(`/v1${target}`)
    const text = await response.text()
    return {
      status: response.status,
      text,
      ...(text.startsWith('{') && { body: JSON.parse(text) }),
    }
  }
  return { runtime, world, handler, read }
}

function inverted(body: string): string {
  return Object.values(METALS).reduce(
    (text, rate) => text.replace(String(rate), String(1 / rate)),
    body,
  )
}

describe.each(FEEDS)('metals of %s', (_name, feed) => {
  it('are troy ounces, with the published digits and ten of the inverse', async () => {
    const { read, handler } = open(feed)
    expect((await read(`/latest?base=USD&symbols=${SYMBOLS}`)).body.rates).toEqual(METALS)
    for (const [code, rate] of Object.entries(METALS)) {
      const ounce = Number((1 / rate).toPrecision(10))
      expect((await read(`/latest?base=${code}&symbols=USD`)).body.rates).toEqual({ USD: ounce })
      const { body } = await read(`/convert?from=${code}&to=USD&amount=1`)
      expect(body).toMatchObject({ rate: ounce, result: ounce })
    }
    const { text } = await read('/latest?base=XAU&symbols=USD&format=csv')
    expect(text).toContain('\nXAU,USD,4099.872904,')
    const latest = await handler.rates.latest({ base: 'USD', symbols: ['XAU'] })
    expect(toDineroRates(latest)).toEqual({ XAU: { amount: 24_391, scale: 8 } })
  })

  it('have no minor unit', async () => {
    const { read } = open(feed)
    const sold = await read('/convert?from=XAU&to=USD&amount=2&round=minor')
    expect(sold.body.rounded).toBe('8199.75')
    const { status, body } = await read('/convert?from=USD&to=EUR,XAU&round=cash')
    const message = 'Invalid parameter: round (XAU has no minor unit)'
    expect([status, body.error.message]).toEqual([400, message])
    const { text } = await read('/currencies?symbols=XAU&format=csv')
    expect(text).toContain('\nXAU,Gold,959,,,,true,false,,,')
  })

  it('have no rate while they are inverted, or the last one, unlike currencies', async () => {
    const { read, world, handler, runtime } = open(feed)
    world.edit = inverted
    expect((await read('/convert?from=XAU&to=USD')).status).toBe(502)
    expect((await read('/convert?from=EUR&to=USD')).status).toBe(200)
    for (const edit of [(body: string) => body, inverted]) {
      world.edit = edit
      await runtime.advance(2 * DAY)
      await handler.refresh()
      const { body } = await read(`/latest?base=USD&symbols=${SYMBOLS},EUR`)
      expect(body.rates).toMatchObject(METALS)
      expect(Object.keys(body.older ?? {})).toEqual(edit === inverted ? Object.keys(METALS) : [])
    }
  })
})

it('metals are a 400 with a feed that has none, and stay in the list of currencies', async () => {
  const { read } = open()
  expect((await read('/convert?from=XAU&to=USD')).status).toBe(400)
  expect((await read('/latest?symbols=XAG')).status).toBe(400)
  const { body } = await read('/currencies?symbols=XPD')
  expect(body.currencies).toMatchObject([{ name: 'Palladium', latest: false }])
})
