import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { ConversionParams, HistoryProvider, RatesHandlerOptions } from '../../src/index.ts'
import {
  createBancaDItaliaProvider,
  createCnbProvider,
  createHmrcProvider,
  createNbpProvider,
  createNorgesBankProvider,
  pegged,
} from '../../src/providers/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { fetchFromFeeds } from '../fixtures/feeds.ts'
import { openService } from '../fixtures/service.ts'
import { NOW } from '../providers/upstream.ts'
import { finish } from '../virtual-runtime.ts'

type Json = ReturnType<typeof JSON.parse>

const { latest, history: ECB } = fakeProviders({ now: () => NOW })
const BANKS = [ECB, createNbpProvider(), createNbpProvider({ table: 'B' }), createCnbProvider()]
const ITALY = createBancaDItaliaProvider()

const dead = (provider: HistoryProvider): HistoryProvider => ({
  ...provider,
  fetchHistory: () => Promise.reject(new Error('down')),
})

function open(history: HistoryProvider[], options: RatesHandlerOptions = {}) {
  const providers = { latest, history: history.length > 0 ? history : (false as const) }
  const service = openService({ start: NOW, providers, fetch: fetchFromFeeds, ...options })
  const { runtime, handler } = service
  const get = async (target: string): Promise<Json> => {
    const response = await finish(runtime, service.get(`/api/v1/${target}`))
    return { status: response.status, ...(await response.json()) }
  }
  const { convert, sources } = handler.rates
  const rates = {
    convert: (params: ConversionParams) => finish(runtime, convert(params)),
    sources: () => finish(runtime, sources()),
  }
  return { get, rates }
}

const banks = open(BANKS)

describe('/v1/sources', () => {
  it('lists every source with its terms, base, days and delay', async () => {
    const { get, rates } = open([...BANKS, createHmrcProvider()])
    const { status, sources } = await get('sources')
    expect(status).toBe(200)
    const ecb = { id: 'ecb', source: ECB.attribution, terms: null, base: 'EUR', frequency: 'daily' }
    const days = { from: '1999-01-04', lastDay: '2026-11-20', late: false }
    expect(sources[0]).toEqual({ ...ecb, ...days })
    const rows = sources.map(({ id, base, frequency, lastDay, late, terms }: Json) =>
      [id, base, frequency, lastDay, late, URL.canParse(terms)].join(' '),
    )
    expect(rows).toEqual([
      'ecb EUR daily 2026-11-20 false false',
      'nbp-a PLN daily 2026-11-20 false true',
      'nbp-b PLN weekly 2026-11-18 false true',
      'cnb CZK daily 2026-11-20 false true',
      'hmrc GBP monthly 2026-11-01 false true',
    ])
    expect(await rates.sources()).toEqual({ sources })
  })

  it.each<[string, HistoryProvider[], object[]]>([
    ['one alone', [ECB], [{ id: 'ecb', base: 'EUR', lastDay: '2026-11-20', late: false }]],
    ['none', [], []],
    ['one that is down', [dead(ECB)], [{ id: 'ecb', base: null, lastDay: null, late: false }]],
    ['a bank that is down', [dead(ITALY)], [{ id: 'banca-d-italia', base: null, lastDay: null }]],
  ])('lists %s', async (_, history, sources) => {
    expect(await open(history).get('sources')).toMatchObject({ status: 200, sources })
  })
})

describe('source=', () => {
  it.each([
    ['ecb', ECB.attribution.name],
    ['nbp-a', 'Narodowy Bank Polski, table A'],
    ['nbp', 'Narodowy Bank Polski, table A'],
    ['cnb', 'Česká národní banka (Czech National Bank)'],
  ])('%s selects the rates of %s', async (id, name) => {
    for (const target of [
      'history?from=USD&to=EUR&period=1W',
      'history?from=USD&to=EUR&start=2026-11-16',
      'convert?from=USD&to=EUR&date=2026-11-19',
      'latest?base=USD&symbols=EUR&date=2026-11-19',
    ]) {
      const { status, source } = await banks.get(`${target}&source=${id}`)
      expect([target, status, source.name]).toEqual([target, 200, name])
    }
    const { series } = await banks.get(`history?from=USD&to=EUR,GBP&period=1W&source=${id}`)
    expect(series.GBP.source.name).toBe(name)
  })

  it('has the digits of the bank, and no rate of another', async () => {
    const target = 'convert?from=EUR&to=PLN&date=2026-11-20'
    const own = await banks.get(`${target}&source=nbp`)
    expect(own.source).not.toEqual((await banks.get(target)).source)
    expect(String(own.rate).replace('.', '').length).toBeLessThanOrEqual(6)
    expect(own.updatedAt).toBe(Date.parse('2026-11-20T11:15:00Z'))
    const { get } = open([ECB, ITALY])
    expect((await get('convert?from=EUR&to=XOF&date=2026-11-20')).rate).toBe(655.957)
    const { status, error } = await get('convert?from=EUR&to=XOF&date=2026-11-20&source=ecb')
    expect([status, error.code]).toEqual([400, 'unsupported_currency'])
    const unknown = await banks.get('history?from=USD&to=EUR&source=boe')
    expect(unknown.error.message).toContain('source (must be one of ecb, nbp-a, nbp-b, cnb')
  })
})

describe('expand=sources', () => {
  it('has the rate, the day and the deviation of every source', async () => {
    const params = { from: 'EUR', to: 'PLN', amount: 100, date: '2026-11-19' } as const
    const target = 'convert?from=EUR&to=PLN&amount=100&date=2026-11-19'
    const { status, sources, ...record } = await banks.get(`${target}&expand=sources`)
    expect(status).toBe(200)
    expect(record).toEqual(await banks.rates.convert(params))
    expect(await banks.rates.convert({ ...params, expand: 'sources' })).toMatchObject({ sources })
    expect(sources.map(({ id }: Json) => id)).toEqual(['ecb', 'nbp-a', 'nbp-b', 'cnb'])
    for (const { id, source, date, rate, deviation } of sources) {
      const alone = await banks.get(`${target}&source=${id}`)
      expect([source, date, rate]).toEqual([alone.source, alone.date, alone.rate])
      expect(deviation).toBeCloseTo((rate / record.rate - 1) * 100, 4)
    }
    expect(sources[2].date).toBe('2026-11-18')
  })

  it('has the newest rates next to the latest rate', async () => {
    const { sources, date } = await banks.get('convert?from=EUR&to=PLN&expand=sources')
    expect(date).toBeUndefined()
    expect(sources.map((each: Json) => each.date.slice(8))).toEqual(['20', '20', '18', '20'])
  })

  it('says which sources have no rate, and why, but for an unforeseen error', async () => {
    const target = 'convert?from=EUR&to=XOF&date=2026-11-20&expand=sources'
    const norway = createNorgesBankProvider()
    const missing = { date: null, rate: null, deviation: null }
    expect((await open([ECB, ITALY, dead(norway)]).get(target)).sources).toMatchObject([
      { id: 'ecb', ...missing, error: 'unsupported_currency' },
      { id: 'banca-d-italia', rate: 655.957, deviation: 0 },
      { id: 'norges-bank', ...missing, error: 'provider_unavailable' },
    ])
  })

  it('fails as a whole with an unforeseen error, such as that of a clock', async () => {
    let left = Infinity
    const now = (): number => {
      left -= 1
      if (left < 0) throw new Error('no clock')
      return NOW
    }
    const providers = { latest, history: [ECB, ITALY] }
    const { rates } = createRatesHandler({ providers, fetch: fetchFromFeeds, now })
    const params = { from: 'EUR', to: 'USD', expand: 'sources' } as const
    const all = JSON.stringify(await rates.convert(params))
    const outcomes = new Set<string>()
    for (let calls = 0; calls < 20; calls += 1) {
      left = calls
      outcomes.add(
        await rates.convert(params).then(
          (record) => JSON.stringify(record),
          () => 'failed',
        ),
      )
    }
    expect([...outcomes].toSorted()).toEqual(['failed', all].toSorted())
  })
})

it('a table with derived rates marks them, but not its base', async () => {
  const withPegs = pegged({
    ...latest,
    fetchLatest: async (context) => {
      const table = await latest.fetchLatest(context)
      const { USD = 1, EUR = 1 } = table.rates
      return { ...table, rates: { USD, EUR } }
    },
  })
  const { get } = open([ECB], { providers: { latest: withPegs, history: false } })
  const { derived, rates } = await get('latest?base=AED&symbols=USD,AED,SAR')
  expect(rates.AED).toBe(1)
  expect(Object.keys(derived).sort()).toEqual(['SAR', 'USD'])
})
