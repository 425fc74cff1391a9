import { describe, expect, it } from 'vitest'

import type { LatestProvider } from '../../src/index.ts'
import { seal } from '../fixtures/envelopes.ts'
import { openFeed } from '../fixtures/open-feed.ts'
import { pairsOf } from '../fixtures/rows.ts'
import { DAY } from '../virtual-runtime.ts'

/** Creates a provider other than the feed, with rates in EUR, by default without sanity checks. */
function providerOf(
  rates: Record<string, number>,
  updatedAt: number,
  checks: Partial<LatestProvider> = {},
): LatestProvider {
  return {
    ...checks,
    attribution: { name: 'By hand', url: 'https://rates.example' },
    fetchLatest: async () => ({
      base: 'EUR',
      updatedAt,
      nextUpdateAt: updatedAt + 3_600_000,
      rates,
    }),
  }
}

/** Returns the rate of a pair, which must be equal on all endpoints. */
async function rateOf(
  { get }: ReturnType<typeof openFeed>,
  from: string,
  to: string,
): Promise<number> {
  const { rates } = (await get(`/v1/latest?base=${from}`)).body
  const listed = (await get(`/v1/latest?base=${from}&symbols=${to}`)).body.rates
  const unversioned = (await get(`/rates?base=${from}`)).body.rates
  const { rate, result } = (await get(`/v1/convert?from=${from}&to=${to}&amount=10`)).body
  const converted = (await get(`/convert?from=${from}&to=${to}&amount=10`)).body
  expect([listed, unversioned[to], converted.result]).toEqual([{ [to]: rate }, rate, result])
  expect(rates[to]).toBe(rate)
  return rate
}

describe('a withdrawn currency in the feed', () => {
  it('has its fixed rate if the feed is wrong: 67 levs for one euro', async () => {
    const world = openFeed('2026-02-18', { BGN: 57 })
    expect(await rateOf(world, 'EUR', 'BGN')).toBe(1.95583)
    expect(await rateOf(world, 'BGN', 'EUR')).toBe(0.511_291_881_2)
    expect(await rateOf(world, 'USD', 'BGN')).toBe(1.662_455_5)
    const { body } = await world.get('/v1/convert?from=EUR&to=BGN&amount=100')
    expect(body.result).toBe(195.583)
    expect(world.eventsOf('rates_deviating')).toEqual([
      {
        type: 'rates_deviating',
        dataSet: 'latest',
        provider: 'Rates By Exchange Rate API',
        corrections: [{ code: 'BGN', published: 57, corrected: 1.662_455_5 }],
      },
    ])
  })

  it('is exactly its successor times the ratio, without an event for less than half a percent', async () => {
    const quotes = { EUR: 0.8629, BGN: 1.6876, HRK: 6.5, SLE: 22.512345, SLL: 22512.4 }
    const world = openFeed('2026-02-18', quotes)
    expect(await rateOf(world, 'USD', 'SLL')).toBe(22512.345)
    expect(await rateOf(world, 'SLE', 'SLL')).toBe(1000)
    const { body } = await world.get('/v1/convert?from=BGN&to=EUR&amount=1000000&round=minor')
    expect(body).toMatchObject({ rate: 0.511_291_881_2, rounded: '511291.88' })
    expect(world.eventsOf('rates_deviating')).toEqual([])
  })

  it('needs no usable rate: bolívares fuertes beyond what a rate can be', async () => {
    const world = openFeed('2026-11-20', { VES: 240, VEF: 2.4e13, HRK: 'n/a' })
    expect(await rateOf(world, 'VES', 'VEF')).toBe(1e11)
    expect(await rateOf(world, 'EUR', 'HRK')).toBe(7.5345)
    const { get } = openFeed('2026-11-20', { VES: undefined, VEF: 2.4e13 })
    const { status, body } = await get('/v1/convert?from=USD&to=VEF')
    const hint = 'withdrawn on 2018-08-20, use VES, 1 VES = 100000000000 VEF'
    expect([status, body.error.message]).toEqual([400, `Invalid to currency: VEF (${hint})`])
  })

  it('has its market rate until withdrawal, then its ratio, then an error with a hint', async () => {
    const world = openFeed('2025-12-31', { BGN: 1.68 })
    expect(await rateOf(world, 'USD', 'BGN')).toBe(1.68)
    await world.publish({})
    expect(await rateOf(world, 'EUR', 'BGN')).toBe(1.95583)
    expect(world.eventsOf('rates_deviating')).toHaveLength(1)
    await world.publish({ BGN: undefined })
    const hint = '(withdrawn on 2026-01-01, use EUR, 1 EUR = 1.95583 BGN)'
    for (const [name, target] of Object.entries({
      base: '/v1/latest?base=BGN',
      from: '/v1/convert?from=BGN&to=EUR',
      to: '/v1/convert?from=USD&to=BGN',
    })) {
      const { status, body } = await world.get(target)
      const message = `Invalid ${name} currency: BGN ${hint}`
      expect([status, body.error]).toEqual([400, { code: 'invalid_currency', message }])
    }
    const { body } = await world.get('/v1/latest?symbols=BGN,EUR')
    expect(body.rates).toEqual({ EUR: 0.85 })
  })

  it('is served as it is by a provider without sanity checks', async () => {
    const latest = providerOf({ BGN: 2, DEM: 1.95583 }, Date.UTC(2026, 10, 20, 18))
    const world = openFeed('2026-11-20', {}, { providers: { latest } })
    const { body } = await world.get('/v1/latest?base=EUR')
    expect(body.rates).toEqual({ EUR: 1, BGN: 2, DEM: 1.95583 })
  })
})

describe('a rate that stays wrong', () => {
  it('is corrected in each publication with one event, and not quarantined', async () => {
    const world = openFeed('2026-02-18', { BGN: 57 })
    for (let publications = 1; publications <= 4; publications += 1) {
      await world.refresh()
      expect(await rateOf(world, 'EUR', 'BGN')).toBe(1.95583)
      expect(world.eventsOf('rates_deviating')).toHaveLength(publications)
      await world.pass(DAY)
    }
    world.quotes = { ...world.quotes, BGN: 1.66 }
    await world.refresh()
    expect(await rateOf(world, 'EUR', 'BGN')).toBe(1.95583)
    expect(world.eventsOf('rates_deviating')).toHaveLength(4)
    expect(world.eventsOf('rates_quarantined')).toEqual([])
  })

  it('is one event for a publication that is fetched again', async () => {
    const checks: Partial<LatestProvider> = { validateStored: (table) => table }
    const latest = providerOf({ BGN: 66 }, Date.UTC(2026, 10, 20), checks)
    const world = openFeed('2026-11-20', {}, { providers: { latest } })
    for (let fetches = 1; fetches <= 3; fetches += 1) {
      await world.refresh()
      expect(world.eventsOf('upstream_response')).toHaveLength(fetches)
      await world.pass(11 * 60_000)
    }
    expect(world.eventsOf('rates_deviating')).toHaveLength(1)
  })

  it('is quarantined before withdrawal, but not after', async () => {
    const world = openFeed('2025-12-30', {})
    await world.refresh()
    await world.publish({ BGN: 57 })
    expect(await rateOf(world, 'USD', 'BGN')).toBe(1.662456)
    expect(world.eventsOf('rates_quarantined')).toMatchObject([{ codes: ['BGN'] }])
    // The Syrian pound lost two zeros on the same day.
    await world.publish({ SYP: 1.12 })
    expect(await rateOf(world, 'EUR', 'BGN')).toBe(1.95583)
    expect(world.eventsOf('rates_quarantined')).toHaveLength(1)
  })

  it('follows a quarantined successor', async () => {
    const world = openFeed('2026-02-18', { ZWL: 64_966.8 })
    await world.refresh()
    await world.publish({ ZWG: 2_600, ZWL: 6_496_683 })
    expect(world.eventsOf('rates_quarantined')).toMatchObject([{ codes: ['ZWG'] }])
    expect(await rateOf(world, 'USD', 'ZWG')).toBe(26)
    expect(await rateOf(world, 'ZWG', 'ZWL')).toBe(2498.7242)
  })
})

describe('a currency that loses zeros and keeps its code', () => {
  it.each([
    ['by then', 110, []],
    ['later', 11_000, [{ codes: ['SYP'] }]],
  ])('is expected to be restated, which the feed does %s', async (_when, rate, quarantined) => {
    const world = openFeed('2025-12-31', { SYP: 11_000 })
    expect(await rateOf(world, 'USD', 'SYP')).toBe(11_000)
    await world.publish({ SYP: rate })
    expect(await rateOf(world, 'USD', 'SYP')).toBe(110)
    expect(world.eventsOf('rates_quarantined')).toMatchObject(quarantined)
  })

  it('is not carried forward from before', async () => {
    const world = openFeed('2025-12-31', { SYP: 11_000 })
    await world.refresh()
    await world.publish({ SYP: undefined })
    expect((await world.get('/v1/latest')).body.rates).not.toHaveProperty('SYP')
  })
})

describe('a table from a store', () => {
  it('is corrected without an event if another version stored the published rate', async () => {
    const store = new Map<string, string>()
    await openFeed('2026-02-18', {}, { store }).refresh()
    const text = store.get('rates:v1:latest') ?? ''
    const asPublished = text.replace('"BGN":1.6624555,', '"BGN":57,')
    expect(asPublished).not.toBe(text)
    store.set('rates:v1:latest', seal(JSON.parse(asPublished)))
    const reader = openFeed('2026-02-18', {}, { store })
    expect(await rateOf(reader, 'EUR', 'BGN')).toBe(1.95583)
    expect(reader.eventsOf('rates_quarantined')).toEqual([])
    expect(reader.eventsOf('rates_deviating')).toEqual([])
    const requested = reader.eventsOf('upstream_request')
    expect(requested).not.toContainEqual(expect.objectContaining({ dataSet: 'latest' }))
  })
})

describe('the hint for a withdrawn currency that the feed lacks', () => {
  it.each(
    pairsOf(`
      HRK => withdrawn on 2023-01-01, use EUR, 1 EUR = 7.5345 HRK
      VEB => withdrawn on 2008-01-01 for VEF, also withdrawn, use VES, 1 VES = 100000000000000 VEB
      BRB => withdrawn on 1986-02-28 for BRC, also withdrawn, use BRL, 1 BRL = 2750000000000 BRB
      CUC => withdrawn on 2021-01-01, use CUP, 1 CUC = 24 CUP
      ANG => withdrawn on 2025-03-31, use XCG, 1 XCG = 1 ANG
      DDM => withdrawn on 1990-07-01 for DEM, also withdrawn, use EUR`),
  )('names the successor of %s', async (code, hint) => {
    const world = openFeed('2026-11-20', { HRK: undefined, ANG: undefined })
    const { status, text, body } = await world.get(`/v1/convert?from=${code}&to=USD`)
    expect(status).toBe(400)
    expect(body.error.message).toBe(`Invalid from currency: ${code} (${hint})`)
    expect(text.length).toBeLessThan(1024)
    const unversioned = await world.get(`/rates?base=${code}`)
    expect(unversioned.body.error).toBe(`Invalid base currency: ${code}`)
    const history = await world.get(`/v1/history?from=${code}&to=EUR`)
    expect([history.status, history.body.error.code]).toEqual([400, 'unsupported_currency'])
    expect(history.body.error.message).toContain(`Unsupported from currency: ${code} (${hint}; `)
    expect(history.text.length).toBeLessThan(1024)
    const { rates } = (await world.get(`/v1/latest?symbols=${code},JPY`)).body
    expect(Object.keys(rates)).toEqual(['JPY'])
  })
})
